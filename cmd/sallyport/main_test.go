package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sallyport": main})
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
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"bytes":   writeBytes,
			"keypair": keyPair,
		},
	}
}

func mkdir(dir string) error { return os.MkdirAll(dir, 0o755) }
