package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/policies"
)

func (a *app) policyCommand() *cobra.Command {
	return group("policy", "Show, write and try the rules", `  sallyport policy list
  sallyport policy show git/force_push
  sallyport policy new rule custom/git/no_push --dir policies
  sallyport policy test policies
`, a.policyList(), a.policyShow(), a.policyNew(), a.policyCheck(), a.policyTest(), a.policyReplay(),
		a.policySchema(),
		a.policyBuild(), a.policySign(), a.policyVerify())
}

// rules reads the configuration and describes the rules of its policies.
func (a *app) rules(ctx context.Context) (*config.Loaded, []rego.RuleInfo, error) {
	l, err := a.load()
	if err != nil {
		return nil, nil, err
	}
	_, infos, err := rulesOf(ctx, l)
	return l, infos, err
}

func rulesOf(ctx context.Context, l *config.Loaded) (*rego.Evaluator, []rego.RuleInfo, error) {
	return plugins.Rules(ctx, l)
}

func (a *app) policyList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the rules and their levels", Args: noArgs}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, infos, err := a.rules(cmd.Context())
		if err != nil {
			return err
		}
		if *f == formatJSON {
			return writeIndented(a.out, infos)
		}
		rows := make([][]string, len(infos))
		for i, r := range infos {
			rows[i] = []string{r.ID, orDash(effects(r.Effects)), r.Level, r.LevelFrom, orDash(r.Severity),
				string(r.Origin), r.Title}
		}
		return writeTable(a.out, []string{"RULE", "EFFECT", "LEVEL", "FROM", "SEVERITY", "ORIGIN", "TITLE"}, rows)
	}
	return cmd
}

func effects(all []engine.Effect) string {
	words := make([]string, len(all))
	for i, e := range all {
		words[i] = string(e)
	}
	return strings.Join(words, ",")
}

// pick finds rules by id; a misspelt one is an error with a suggestion.
func pick(infos []rego.RuleInfo, ids []string) ([]rego.RuleInfo, error) {
	known := make([]string, len(infos))
	for i, r := range infos {
		known[i] = r.ID
	}
	out := make([]rego.RuleInfo, len(ids))
	for i, id := range ids {
		at := slices.Index(known, id)
		if at < 0 {
			hint := "sallyport policy list names them"
			if near := config.Suggest(id, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, usageError{fmt.Errorf("no rule %q: %s", id, hint)}
		}
		out[i] = infos[at]
	}
	return out, nil
}

//go:embed scaffold
var scaffold embed.FS

func (a *app) policyNew() *cobra.Command {
	var dir string
	rule := &cobra.Command{
		Use:   "rule custom/CATEGORY/NAME",
		Short: "Write a new rule with its test and its cases",
		Long: `Write a new rule with its unit test and a file of cases, ready to be changed. Existing files are
not overwritten. The new ones are put below --dir, by default the first directory that the configuration
names, or ./policies.`,
		Example: "  sallyport policy new rule custom/git/no_push --dir policies",
		Args:    exactly(1, "the id of the new rule: custom/CATEGORY/NAME"),
	}
	rule.Flags().StringVar(&dir, "dir", "", "`directory` of policies to write into")
	rule.RunE = func(_ *cobra.Command, args []string) error {
		if err := rego.CheckCustomID(args[0]); err != nil {
			return usageError{err}
		}
		given := dir != ""
		if !given {
			l, err := a.load()
			if err != nil {
				return err
			}
			if dir = "policies"; len(directories(l.Policies)) > 0 {
				dir = directories(l.Policies)[0]
				given = true
			}
		}
		files, err := scaffoldRule(dir, args[0])
		for _, f := range files {
			fmt.Fprintln(a.out, printable(f))
		}
		if err == nil && !given {
			a.say(`to have it judge, add "policies: [%s]" to the configuration`, printable(dir))
		}
		return err
	}
	all := group("new", "Write new policies", "", rule)
	all.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && rego.CheckCustomID(args[0]) == nil {
			return usageError{fmt.Errorf("unknown command %q: did you mean: sallyport policy new rule %s",
				args[0], args[0])}
		}
		return helpOrUnknown(cmd, args)
	}
	return all
}

// scaffoldRule writes the files of a new rule and returns their names.
func scaffoldRule(dir, id string) ([]string, error) {
	parts := strings.Split(id, "/")
	name := parts[len(parts)-1]
	title := strings.ReplaceAll(name, "_", " ")
	about := strings.NewReplacer(
		"{{ID}}", id, "{{Name}}", name, "{{Package}}", strings.Join(parts, "."), "{{Title}}",
		strings.ToUpper(title[:1])+title[1:],
	)
	place := filepath.Join(dir, filepath.FromSlash(id))
	if _, err := os.Lstat(place); err == nil {
		return nil, fmt.Errorf("write rule %s: %s is there already: choose another name or take it away", id,
			place)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("write rule %s: %w", id, err)
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		return nil, fmt.Errorf("write rule %s: %w", id, err)
	}
	var written []string
	for _, f := range []struct{ from, to string }{
		{"rule.rego", name + ".rego"}, {"test.rego", name + "_test.rego"},
		{"cases.yaml", name + ".cases.yaml"},
	} {
		text, err := scaffold.ReadFile("scaffold/" + f.from + ".tmpl")
		if err != nil {
			return written, fmt.Errorf("write rule %s: %w", id, err)
		}
		file := filepath.Join(place, f.to)
		if err := os.WriteFile(file, []byte(about.Replace(string(text))), 0o644); err != nil {
			return written, fmt.Errorf("write rule %s: %w", id, err)
		}
		written = append(written, file)
	}
	return written, nil
}

func (a *app) policySchema() *cobra.Command {
	var kit string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the policy input",
		Long: `Print the JSON Schema of the policy input, for editors and for "opa check --schema".

With --kit, write into a directory the files with which the stock opa checks and tests policies as sallyport
does: the schema, the builtins that policies may call, the libraries data.sallyport.lib and
data.sallyport.session, and data.sallyport.testing.`,
		Example: `  sallyport policy schema > input.json
  sallyport policy schema --kit kit
  opa check --strict --schema kit/input.json --capabilities kit/capabilities.json kit/lib policies
  opa test kit/lib policies`,
		Args: noArgs,
	}
	cmd.Flags().StringVar(&kit, "kit", "", "`directory` for the files that the stock opa needs")
	cmd.RunE = func(*cobra.Command, []string) error {
		schema, err := facts.Schema()
		if err != nil {
			return fmt.Errorf("make schema: %w", err)
		}
		if kit == "" {
			_, err = a.out.Write(schema)
			return err
		}
		return writeKit(kit, schema)
	}
	return cmd
}

// writeKit writes the schema, the capabilities and the library. What is there of the same name is
// replaced: a kit is that of this version of the program.
func writeKit(dir string, schema []byte) error {
	capabilities, err := rego.Capabilities()
	if err != nil {
		return err
	}
	files := map[string][]byte{"input.json": schema, "capabilities.json": append(capabilities, '\n')}
	// With its roots named, opa takes the library beside a bundle of policies: opa run -b team.tar.gz
	// kit/lib.
	files["lib/.manifest"] = []byte(`{"roots": ["sallyport"], "rego_version": 1}` + "\n")
	for _, part := range []string{"lib", "session", "testing", "config"} {
		err := fs.WalkDir(policies.Kit(), "sallyport/"+part,
			func(name string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				files[path.Join("lib", name)], err = fs.ReadFile(policies.Kit(), name)
				return err
			})
		if err != nil {
			return fmt.Errorf("write kit: %w", err)
		}
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("write kit: %w", err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return fmt.Errorf("write kit: %w", err)
		}
	}
	return nil
}

// shownRule is the JSON form of policy show.
type shownRule struct {
	rego.RuleInfo
	Tests  []rego.TestOf     `json:"tests"`
	Cases  []string          `json:"cases"` // "file:row: name"
	Source []rego.SourceFile `json:"source"`
}

func (a *app) policyShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show RULE", Short: "Show a rule: its description, examples, tests and text",
		Args: exactly(1, "the id of one rule")}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		evaluator, infos, err := rulesOf(cmd.Context(), l)
		if err != nil {
			return err
		}
		found, err := pick(infos, args)
		if err != nil {
			return err
		}
		r := shownRule{RuleInfo: found[0], Tests: []rego.TestOf{}, Cases: []string{},
			Source: []rego.SourceFile{}}
		if r.Origin != rego.Plugin { // a module has no text to show
			if r.Source, err = evaluator.Source(r.ID); err != nil {
				return err
			}
		}
		if r.Origin == rego.Custom {
			if err := r.tried(directories(l.Policies)); err != nil {
				return err
			}
		}
		if *f == formatJSON {
			return writeIndented(a.out, r)
		}
		return a.writeRule(r)
	}
	return cmd
}

// tried notes the unit tests and the cases that look at a rule. Those of built-in rules stand beside
// them in the repository and are no part of the program.
func (r *shownRule) tried(dirs []string) error {
	tests, err := rego.TestsOf(dirs, r.ID)
	if err != nil {
		return err
	}
	r.Tests = append(r.Tests, tests...)
	cases, err := rego.Cases(dirs)
	if err != nil {
		return err
	}
	for _, c := range cases {
		if slices.Contains(c.Rules, r.ID) {
			r.Cases = append(r.Cases, fmt.Sprintf("%s:%d: %s", c.File, c.Row, c.Name))
		}
	}
	return nil
}

func (a *app) writeRule(r shownRule) error {
	fmt.Fprintf(a.out, "%s: %s\n\n", styleOf(a.out).Bold(r.ID), printable(r.Title))
	if text := strings.TrimSpace(r.Description); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintln(a.out, printable(line))
		}
		fmt.Fprintln(a.out)
	}
	place := r.File
	if r.Row > 0 {
		place = fmt.Sprintf("%s:%d", r.File, r.Row)
	}
	if err := writeTable(a.out, []string{"effect", orDash(effects(r.Effects))}, [][]string{
		{"level", r.Level + " (from " + r.LevelFrom + ")"}, {"severity", orDash(r.Severity)},
		{"instead", orDash(r.Remediation)},
		{"origin", string(r.Origin)}, {"stands in", place},
	}); err != nil {
		return err
	}
	if len(r.Config) > 0 {
		config, err := json.Marshal(r.Config)
		if err != nil {
			return fmt.Errorf("show settings of %s: %w", r.ID, err)
		}
		a.writePart("where this holds", []string{string(config)})
	}
	a.writePart("catches", r.Examples)
	a.writePart("leaves alone", r.Lookalikes)
	tests := make([]string, len(r.Tests))
	for i, t := range r.Tests {
		tests[i] = fmt.Sprintf("%s:%d: %s", t.File, t.Row, t.Name)
	}
	a.writePart("unit tests", tests)
	a.writePart("cases", r.Cases)
	for _, s := range r.Source {
		a.writePart(s.Name, strings.Split(strings.TrimRight(s.Text, "\n"), "\n"))
	}
	return nil
}

// writePart writes lines below a heading, and nothing where there are none. Tabs, with which Rego is
// indented, stay.
func (a *app) writePart(name string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(a.out, "\n%s\n", printable(name))
	for _, line := range lines {
		text := strings.TrimLeft(line, "\t")
		indent := strings.Repeat("    ", len(line)-len(text))
		fmt.Fprintln(a.out, strings.TrimRight("  "+indent+printable(text), " "))
	}
}

func (a *app) policyBuild() *cobra.Command {
	var out, key, revision string
	var serial int64
	var compiled bool
	cmd := &cobra.Command{
		Use:   "build [DIR…] -o FILE",
		Short: "Pack policies into a bundle",
		Long: `Pack the policies of directories, by default those that the configuration names, into a bundle in the format of
OPA: modules without their tests, and data. Policies that could not be loaded are not packed. With --sign
the bundle is signed.

A bundle has a serial, by default the time in milliseconds. Where keys are configured, a bundle with a lower serial
than one that judged before is refused.

With --wasm the bundle also has policy.wasm, with an entrypoint for each set of each rule, as "opa build -t wasm"
makes it: for programs that evaluate policies by OPA's SDKs. Sallyport judges by the sources.`,
		Example: "  sallyport policy build policies -o bundle.tar.gz --sign key.pem",
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write: its name ends in .tar.gz")
	cmd.Flags().StringVar(
		&key, "sign", "", "`file` with the private key to sign with, in PEM: EC (P-256) or RSA")
	cmd.Flags().StringVar(&revision, "revision", "",
		"`name` of this version of the policies (default: one that follows their content)")
	cmd.Flags().Int64Var(&serial, "serial", 0, "`number` that grows with each bundle (default: the time)")
	cmd.Flags().BoolVar(&compiled, "wasm", false, "put the rules compiled to WebAssembly beside their sources")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !cmd.Flags().Changed("serial"):
			serial = time.Now().UnixMilli()
		case serial <= 0:
			return usageError{fmt.Errorf("--serial %d: want a number above zero", serial)}
		}
		if !rego.IsBundle(out) || rego.IsRemote(out) {
			if out == "" {
				return usageError{errors.New("missing -o FILE.tar.gz")}
			}
			return usageError{fmt.Errorf("-o %q: the name must end in .tar.gz", out)}
		}
		dirs, err := a.policyDirs(args)
		if err != nil {
			return err
		}
		secret, err := readKey(key)
		if err != nil {
			return err
		}
		text, err := rego.BuildBundle(cmd.Context(),
			rego.BundleOptions{Builtin: policies.FS(), Dirs: dirs, Revision: revision, Serial: serial, Key: secret,
				WASM: compiled})
		if err != nil {
			return err
		}
		return a.writeBundle(out, text)
	}
	return cmd
}

func (a *app) policySign() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:     "sign BUNDLE --key FILE",
		Short:   "Sign a bundle, in place of any signature that it has",
		Example: "  sallyport policy sign bundle.tar.gz --key key.pem",
		Args:    exactly(1, "a bundle"),
	}
	cmd.Flags().StringVar(&key, "key", "", "`file` with the private key, in PEM: EC (P-256) or RSA")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if key == "" {
			return usageError{errors.New("--key: want the file with the private key")}
		}
		secret, err := readKey(key)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(args[0])
		if err != nil {
			return fmt.Errorf("sign bundle: %w", err)
		}
		if text, err = rego.SignBundle(text, secret); err != nil {
			return err
		}
		return a.writeBundle(args[0], text)
	}
	return cmd
}

func (a *app) policyVerify() *cobra.Command {
	var keys []string
	cmd := &cobra.Command{
		Use:   "verify BUNDLE [--key FILE…]",
		Short: "Read a bundle and check its signature",
		Long: `Read a bundle and list its contents. With --key it must be signed by one of the keys; without, it
must not be signed, for an unchecked signature means nothing. Exits with 0 for a valid bundle, 1 for any
other.`,
		Example: "  sallyport policy verify bundle.tar.gz --key key.pub",
		Args:    exactly(1, "a bundle"),
	}
	f := formatFlag(cmd)
	cmd.Flags().StringArrayVar(&keys, "key", nil, "`file` with a public key, in PEM; may be repeated")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		var public [][]byte
		for _, file := range keys {
			key, err := readKey(file)
			if err != nil {
				return err
			}
			public = append(public, key)
		}
		text, err := os.ReadFile(args[0])
		if err != nil {
			return fmt.Errorf("verify bundle: %w", err)
		}
		info, err := rego.VerifyBundle(text, public)
		if err != nil {
			return err
		}
		if *f == formatJSON {
			return writeIndented(a.out, info)
		}
		state := map[bool]string{true: "signed by a key that was given", false: "not signed"}[info.Signed]
		order := "no serial"
		if info.Serial > 0 {
			order = fmt.Sprintf("serial %d", info.Serial)
		}
		fmt.Fprintf(a.out, "revision %s, %s, %s, %s\n", printable(info.Revision), order,
			count(len(info.Modules), "module"), state)
		for _, m := range info.Modules {
			fmt.Fprintf(a.out, "  %s\n", printable(m))
		}
		return nil
	}
	return cmd
}

// readKey reads a key; "" stands for none.
func readKey(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	key, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf(
			"read key: %w: make one with: openssl ecparam -name prime256v1 -genkey -noout -out key.pem", err)
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	return key, nil
}

// writeBundle puts a bundle in its place whole, so that a server that follows it never sees half of one.
func (a *app) writeBundle(file string, text []byte) error {
	part := file + ".part"
	if err := os.WriteFile(part, text, 0o644); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	if err := os.Rename(part, file); err != nil {
		return fmt.Errorf("write bundle: %w", errors.Join(err, os.Remove(part)))
	}
	_, err := fmt.Fprintf(a.out, "%s: %d bytes\n", printable(file), len(text))
	return err
}
