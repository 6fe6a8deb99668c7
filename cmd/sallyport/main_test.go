package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies/precompiled"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sallyport": main,
		// The handling of a signal is tested where a command has all the time for it, or none.
		"patient-sallyport": func() { os.Exit(leaving(2 * await.Guard)) },
		"hasty-sallyport":   func() { os.Exit(leaving(time.Millisecond)) },
	})
}

func leaving(after time.Duration) int {
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, leave: after, host: config.ThisHost}
	return a.run(os.Args[1:])
}

// TestScripts runs testdata/script: the program as a user meets it, with a home of its own. What a
// script gives to exec is harmless in itself; what it wants refused is refused by a pattern of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata/script"))
}

func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			project := filepath.Join(home, "project")
			if err := mkdir(project); err != nil {
				return err
			}
			env.Setenv("HOME", home)
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("NO_COLOR", "1")
			env.Cd = project
			if err := precompiled.Write(filepath.Join(env.WorkDir, "state", "sallyport", "compiled")); err != nil {
				return err
			}
			return bare(filepath.Join(env.WorkDir, "config"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"bytes":   writeBytes,
			"keypair": keyPair,
			"events":  events,
			"until":   until,
		},
	}
}

// bare writes the configuration of a user who does without a sandbox: no supervisor lies beside a program of
// tests. A script that is about the defaults removes it.
func bare(dir string) error {
	file := filepath.Join(dir, "sallyport", "config.yaml")
	if _, err := os.Stat(file); err == nil { // a script brings its own
		return nil
	}
	if err := mkdir(filepath.Dir(file)); err != nil {
		return err
	}
	return os.WriteFile(file, []byte("version: 1\n"+withoutSandbox), 0o600)
}

const withoutSandbox = "local: {sandbox: none}\n"

func mkdir(dir string) error { return os.MkdirAll(dir, 0o755) }
