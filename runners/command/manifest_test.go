//go:build unix

package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// reach is a program that leads to a supervisor, and says so in its own words first, to standard error.
const reach = "#!/bin/sh\n# reaches a supervisor\nexec \"$1\"\n"

// install writes a plugin and seals it.
func install(t testing.TB, dir string) command.Plugin {
	t.Helper()
	manifest := filepath.Join(dir, "reach.yaml")
	runnertest.WriteProgram(t, filepath.Join(dir, "reach.sh"), []byte(reach), 0o755)
	write(t, manifest, fmt.Sprintf("name: reach # where to\nversion: 1.0.0\ninterface: %d\ncommand: [./reach.sh]\nsha256:\nisolation: container\n", wire.Version))
	sum, err := command.SealPlugin(manifest)
	if err != nil {
		t.Fatal(err)
	}
	p, err := command.LoadPlugin(manifest)
	if err != nil || p.SHA256 != sum || p.Name != "reach" || p.Program != filepath.Join(dir, "reach.sh") {
		t.Fatalf("%+v, %v", p, err)
	}
	return p
}

func TestConformance(t *testing.T) {
	p := install(t, t.TempDir())
	runnertest.Run(t, func(t *testing.T) engine.Environment {
		return open(t, command.Options{Plugin: &p, Command: []string{"./reach.sh", program}})
	})
}

// A program that is not the one of the manifest is not started.
func TestPluginThatDoesNotMatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := install(t, dir)
	mark := filepath.Join(dir, "mark")
	options := command.Options{Plugin: &p, Command: []string{"./reach.sh", program}}
	if err := p.Verify(); err != nil {
		t.Fatal(err)
	}
	env, err := try(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func() error{
		"other content": func() error {
			return os.WriteFile(p.Program, []byte("#!/bin/sh\n: >"+mark+"\nexec \"$1\"\n"), 0o755)
		},
		"longer":      func() error { return os.WriteFile(p.Program, []byte(reach+":\n"), 0o755) },
		"a directory": func() error { return os.Mkdir(p.Program, 0o755) },
		"a link to another": func() error {
			write(t, dir+"/other", "#!/bin/sh\n: >"+mark+"\n")
			return os.Symlink(dir+"/other", p.Program)
		},
		"missing": func() error { return nil },
	} {
		if err := os.RemoveAll(p.Program); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if _, err := try(options); err == nil {
			t.Errorf("%s: it was started", name)
		}
		if p.Verify() == nil {
			t.Errorf("%s: nothing is found wrong", name)
		}
		if _, err := os.Lstat(mark); err == nil {
			t.Errorf("%s: it ran", name)
		}
	}
}

func TestManifests(t *testing.T) {
	t.Parallel()
	const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	good := fmt.Sprintf("name: reach\nversion: 1.0.0\ninterface: %d\ncommand: [./reach]\nsha256: %s\n", wire.Version, sum)
	file := filepath.Join(t.TempDir(), "m.yaml")
	load := func(text string) error {
		write(t, file, text)
		_, err := command.LoadPlugin(file)
		return err
	}
	if err := load(good); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ old, text, want string }{
		{"name: reach", "name: Reach", "name"},
		{"name: reach\n", "", "name"},
		{"1.0.0", "'1 0'", "version"},
		{"interface: ", "interface: 9", "this build speaks version"},
		{"[./reach]", "[]", "empty"},
		{"[./reach]", "[reach]", "absolute path"},
		{"[./reach]", "[../reach]", "absolute path"},
		{"[./reach]", `[./reach, "\0"]`, "NUL"},
		{sum, sum[1:], "64 hexadecimal digits"},
		{sum, strings.ToUpper(sum), "64 hexadecimal digits"},
		{sum, "", "plugin seal"},
		{"name: reach", "name: reach\nshell: true", "shell"},
		{"name: reach", "name: reach\nisolation: total", "isolation"},
		{"name: reach", "name: reach\nnetwork: all", "network"},
		{"name: reach", "name: reach\nfacts: true\nnetwork: none", "the plugin tells them"},
		{"name: reach", "name: reach\nstart: 5", "start"},
		{"name: reach", "name: reach\nstart: 2h", "start"},
		{"name: reach", "name: reach\nname: twice", "name"},
		{sum + "\n", sum + "\n---\nname: x\n", "more than one"},
		{good, "", "EOF"},
		{good, "- 1", "cannot unmarshal"},
		{good, strings.Repeat("#", 1<<17), "regular file of at most"},
	} {
		if err := load(strings.Replace(good, tc.old, tc.text, 1)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q for %q: got %v, want something about %q", tc.text, tc.old, err, tc.want)
		}
	}
	if _, err := command.SealPlugin(file); err == nil {
		t.Error("what is no manifest was sealed")
	}
}
