// Package commands is the table of programs and their words: which options take a value, the meaning of an
// operand, the effect of an option. It is data, one YAML file a family of commands below table/,
// checked by schema.json. The package finds and reads rows; it does not know the meaning of an effect or a
// flag, and it judges nothing.
//
// A row is read when its command is first asked for: a text names a handful of the two thousand commands.
package commands

import (
	_ "embed" // for the schema
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Schema is the JSON Schema of a file of the table.
//
//go:embed schema.json
var Schema []byte

// Row is the table's entry of a command or of a subcommand. All that a command always does, its subcommands
// do, too.
type Row struct {
	// The row of another name holds; nothing else stands here.
	Like string `yaml:"like,omitempty"`
	Does string `yaml:"does,omitempty"` // effects and flags of every call
	// Their kinds; the last one holds for all further operands.
	Operands []string `yaml:"operands,omitempty"`
	// Kind of the last operand where there are two or more.
	Last    string            `yaml:"last,omitempty"`
	Style   string            `yaml:"style,omitempty"`   // a word of Styles; "" for GNU's
	Hook    string            `yaml:"hook,omitempty"`    // a Go function for facts that no row can state
	Options map[string]Option `yaml:"options,omitempty"` // by names: "-f, --force"
	// Changes of all that by the words of a call. A key lists options and phrases of operands: one of them must
	// be there. Behind "with" stand those of which one must be there, too, and behind "without" those of which
	// none may be.
	When map[string]Change `yaml:"when,omitempty"`
	Runs *Runs             `yaml:"runs,omitempty"` // the commands and programs in its words; nil for none
	// It prints its words and its input, changed or not, and nothing else.
	Filter bool `yaml:"filter,omitempty"`
	// It reaches its hosts by ssh, with the user's settings.
	SSH bool `yaml:"ssh,omitempty"`
	// Options, or words, behind which a command stands that it runs.
	Holds []string `yaml:"holds,omitempty"`
	// Words of its own language behind which the name of a file stands that it reads: #include, load(.
	Includes []string `yaml:"includes,omitempty"`
	// Commands to which it hands words, by options: behind one that ends with a comma stand words in the same
	// word, separated by commas; behind another one stands the next word.
	Hands map[string]string `yaml:"hands,omitempty"`
	// Lists of phrases that give the effects of its plain words, where it has no subcommand for that.
	Words []string `yaml:"words,omitempty"`
	// Files below the home directory that every call writes: a shell's startup file.
	Home []string `yaml:"home,omitempty"`
	// How it names packages and their sources; nil where it handles none.
	Packages *Packages `yaml:"packages,omitempty"`
	// How it chooses a cluster of Kubernetes; nil where it talks to none by a kubeconfig.
	Kube *Kube `yaml:"kube,omitempty"`
	// The settings that it stores and by which programs start others; nil for none.
	Stores *Stores `yaml:"stores,omitempty"`
	// Subcommands by their names: "push", "volume rm, volume prune".
	Subcommands map[string]Row `yaml:"subcommands,omitempty"`
}

// Option is the table's entry of an option.
type Option struct {
	Value    string `yaml:"value,omitempty"`    // kind of its value, in the same word or the next one
	Attached string `yaml:"attached,omitempty"` // kind of its value, which only stands in the same word
	Does     string `yaml:"does,omitempty"`     // effects and flags
	Replaces string `yaml:"replaces,omitempty"` // "first" or "last": there is no such special operand any more
	Ends     bool   `yaml:"ends,omitempty"`     // the words behind belong to another program
	// Kinds of the parts of a value that is a list of NAME=VALUE, by name; "*" is any name.
	Parts map[string]string `yaml:"parts,omitempty"`
}

// Change is the change of a call's facts by a condition.
type Change struct {
	Does     string `yaml:"does,omitempty"`     // effects and flags that it adds
	Drops    string `yaml:"drops,omitempty"`    // effects and flags that it takes away
	Paths    string `yaml:"paths,omitempty"`    // kind of the paths that the call would write or delete
	Operands string `yaml:"operands,omitempty"` // kind that each operand has besides
	Here     string `yaml:"here,omitempty"`     // kind of the working directory
}

// Runs describes the program that a command runs: another command among its words, or program text of a
// language.
type Runs struct {
	// The words behind its options; every other field but language implies it.
	Command bool `yaml:"command,omitempty"`
	// A command line that options and operands alone do not describe.
	Shape string `yaml:"shape,omitempty"`
	// Operands before the command: timeout DURATION, chroot DIR.
	Skip int `yaml:"skip,omitempty"`
	// Words of which one stands before the command: "exec", "tool run".
	Verbs  []string `yaml:"verbs,omitempty"`
	Others []string `yaml:"others,omitempty"` // its own verbs; any other first operand is a command
	// Words behind which the command stands, wherever that is.
	Behind      []string `yaml:"behind,omitempty"`
	Prefix      string   `yaml:"prefix,omitempty"`      // a word that may stand before the command
	Assignments bool     `yaml:"assignments,omitempty"` // NAME=value words stand before the command
	Joined      bool     `yaml:"joined,omitempty"`      // the words are joined and run by a shell
	Each        bool     `yaml:"each,omitempty"`        // each operand is run by a shell
	Versioned   bool     `yaml:"versioned,omitempty"`   // the command may be a package with a version: rimraf@5
	// Runs a file of that language given in place of a command.
	Script   string `yaml:"script,omitempty"`
	Elevated bool   `yaml:"elevated,omitempty"` // the command has other rights than the caller
	// The command runs on another machine, or in another root.
	Away       bool `yaml:"away,omitempty"`
	Background bool `yaml:"background,omitempty"` // the command goes on after the caller
	Secrets    bool `yaml:"secrets,omitempty"`    // the command gets secrets in its environment

	Language string `yaml:"language,omitempty"` // of an interpreter's programs
	Shell    bool   `yaml:"shell,omitempty"`    // the language is that of a shell
	Verb     bool   `yaml:"verb,omitempty"`     // a verb stands first: deno run, bun run
	Input    bool   `yaml:"input,omitempty"`    // without a program it reads standard input
	Edits    bool   `yaml:"edits,omitempty"`    // its operands are files to edit, not a program
	// Letter of the option with which it does so behind a program, too.
	Inspect string `yaml:"inspect,omitempty"`
	// Options with which it looks for its programs by itself, or needs none, if no operand names them; a * is
	// any end.
	Finds string `yaml:"finds,omitempty"`
	// Programs that images of containers start with the words behind them, by the name of the image.
	Images map[string]string `yaml:"images,omitempty"`
}

// Stores says which settings of a command make a program start another one, or load code, later on.
type Stores struct {
	Verbs []string `yaml:"verbs"` // words, or options, behind which settings stand: "config set", "-w"
	// Environment variables of the same meaning, by the name of the setting, or its end behind a dot.
	Settings map[string]string `yaml:"settings"`
}

// Packages says how a command names packages and the places where they come from. Options stand here without
// their dashes.
type Packages struct {
	Type    string   `yaml:"type"`              // of a package URL: "npm", "pypi", "deb"
	Sources []string `yaml:"sources,omitempty"` // options that take a source; "!" in front: gives a check up
	// Names of settings for a source, or parts of them: pip config set global.index-url URL; "!" as above.
	Settings []string `yaml:"settings,omitempty"`
	Adds     []string `yaml:"adds,omitempty"`    // subcommands that add a source; "*": each call does
	Version  []string `yaml:"version,omitempty"` // options that take the version
	Files    []string `yaml:"files,omitempty"`   // options that take a file that lists packages
}

// Kube says how a command chooses the cluster, the namespace and the user by kubeconfig files. Options stand
// here without their dashes.
type Kube struct {
	Config     []string `yaml:"config,omitempty"`     // options that take a kubeconfig file
	Context    []string `yaml:"context,omitempty"`    // options that take a context
	Cluster    []string `yaml:"cluster,omitempty"`    // options that take the name of a cluster
	Server     []string `yaml:"server,omitempty"`     // options that take the address of a server
	User       []string `yaml:"user,omitempty"`       // options that take the name of a user
	Namespace  []string `yaml:"namespace,omitempty"`  // options that take a namespace
	Everywhere []string `yaml:"everywhere,omitempty"` // options for all namespaces
	// Options with credentials, or with a user to act as, in place of those of the kubeconfig.
	Credentials []string `yaml:"credentials,omitempty"`
	// Options with manifests, which may name namespaces of their own.
	Manifests []string `yaml:"manifests,omitempty"`
	// Variables of the environment, with the field of which they give the default: HELM_NAMESPACE=namespace.
	Variables []string `yaml:"variables,omitempty"`
	// Files below the home directory with further defaults, and variables that name such files: KUBERC.
	Defaults []string `yaml:"defaults,omitempty"`
	// Subcommands, or "*" for each call, of which the operand becomes the current context.
	Switches []string `yaml:"switches,omitempty"`
	Changes  []string `yaml:"changes,omitempty"` // likewise, those that change a kubeconfig in other ways
	// Fields that the command takes from elsewhere where no option gives them.
	Unknown []string `yaml:"unknown,omitempty"`
}

// Styles are the ways in which commands spell options, by name.
var Styles = map[string]string{
	"":            "-a -bc --long --long=value, and abbreviations of long names",
	"single-dash": "-name value, --name=value",
	"colon":       "-name:value, --name=value",
	"none":        "every word is an operand",
	"everywhere":  "as GNU's; the command's own options stand behind a subcommand, too",
}

// Kinds are the words with which the kind of an operand or of a value begins.
var Kinds = map[string]string{
	"text":       "neither a path nor a host",
	"number":     "a number or a size",
	"package":    "a package, by name or by where it comes from",
	"read":       "a path that is read",
	"write":      "a path that is written",
	"edit":       "a path that is read and written",
	"delete":     "a path that is removed",
	"execute":    "a path that is run or loaded",
	"source":     "a path of lines that are read and run",
	"key":        "a path of a key or settings that the command uses and does not print",
	"path-like":  "a path that is read, if it looks like one",
	"directory":  "where the command works",
	"host":       "a host, user@host or URL",
	"url":        "a URL, or else a host; file: is a path that is read",
	"proxy":      "proxies or jump hosts, separated by commas",
	"image":      "an image of a container; without a registry in its name it is one of docker.io",
	"reference":  "TRANSPORT:NAME of an image, or a short name, of which settings choose the registry",
	"address":    "HOST:PORT:ADDRESS, by which a host is another one",
	"command":    "another program, and its words behind it",
	"code":       "program text, in the language that the row names, or of a shell",
	"script":     "a file of program text",
	"library":    "a file or a module that is loaded before the program",
	"module":     "a program that the language finds by its name; all further words are its own",
	"assignment": "NAME=value, a variable of the programs that the command starts",
}

// KindNames lists the kinds by their names.
func KindNames() []string { return slices.Sorted(maps.Keys(Kinds)) }

// Qualifiers may stand behind a kind.
var Qualifiers = map[string]string{
	"link":     "the link itself, not its target",
	"tree":     "all that lies below, too",
	"metadata": "names, sizes and modes, not content",
	"remote":   "HOST:PATH is a place elsewhere",
	"stop":     "options end here: the rest belongs to what this word names",
}

// Entry is a row that is read when it is asked for.
type Entry struct {
	Names    []string
	text     section
	indent   string
	siblings func(name string) *Entry

	known   bool  // the row is read already: it is an operator's
	damaged error // the row cannot be found
	once    sync.Once
	row     Row
	subs    []*Entry
	like    *Entry
	err     error
}

func entries(sections []section, indent string) []*Entry {
	list := make([]*Entry, len(sections))
	for i, s := range sections {
		list[i] = &Entry{Names: strings.Split(s.key, ", "), text: s, indent: indent}
	}
	return list
}

// Row reads the row. Its subcommands are rows of their own.
func (e *Entry) Row() (Row, []*Entry, error) {
	e.once.Do(func() {
		err := e.damaged
		if err == nil && !e.known {
			err = e.read()
		}
		if err == nil && e.row.Like != "" {
			err = e.follow()
		}
		if err != nil {
			e.err = fmt.Errorf("read row %s: %w", e.Names[0], err)
		}
	})
	return e.row, e.subs, e.err
}

func (e *Entry) read() error {
	fields := []section{e.text}
	if e.text.rest == "" {
		list, err := split(e.text.below, e.indent+"  ")
		if err != nil {
			return err
		}
		fields = list
	}
	for _, s := range fields {
		if s.key == "subcommands" {
			list, err := split(s.below, e.indent+"    ")
			if err != nil {
				return err
			}
			e.subs = entries(list, e.indent+"    ")
			continue
		}
		n, err := s.node(e.indent + "  ")
		if err != nil {
			return err
		}
		if s.rest != "" && s == e.text {
			for _, f := range n.fields {
				if err := e.row.set(f.key, f.node); err != nil {
					return err
				}
			}
			continue
		}
		if err := e.row.set(s.key, n); err != nil {
			return err
		}
	}
	for _, s := range e.subs {
		s.siblings = e.sub
	}
	return nil
}

// follow takes over the row that this one is like.
func (e *Entry) follow() error {
	same := e.siblings(e.row.Like)
	if same == nil || same == e {
		return fmt.Errorf("there is no row %q to be like", e.row.Like)
	}
	var err error
	e.row, e.subs, err = same.Row()
	e.like = same
	return err
}

// Original is the entry that holds the row itself: another one where this one says "like".
func (e *Entry) Original() *Entry {
	if _, _, err := e.Row(); err != nil || e.like == nil {
		return e
	}
	return e.like
}

// sub finds a subcommand by its words.
func (e *Entry) sub(words string) *Entry {
	for _, s := range e.subs {
		if slices.Contains(s.Names, words) {
			return s
		}
	}
	return nil
}
