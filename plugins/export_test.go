package plugins

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// Within sets the time limit of a custom policy, and a request and its plugins to more than a test lasts. The
// deadlines of plugins read clock.
func (o Options) Within(timeout time.Duration, clock func() time.Time) Options {
	o.Judge, o.wasm = await.Guard, wasm.Options{Clock: clock, Compile: await.Guard}
	o.policies = func(ctx context.Context, l *config.Loaded) (*rego.Evaluator, error) {
		r, err := regoOptions(l, nil)
		if err != nil {
			return nil, err
		}
		r.Timeout = timeout
		return evaluator(ctx, l, r)
	}
	return o
}

// Unhurried lets a request take as long as a test does.
func (o Options) Unhurried() Options { return o.Within(await.Guard, nil) }

// Precompiled puts the native code of the built-in policies, made once for all tests, where the configuration keeps it.
func Precompiled(t testing.TB, l *config.Loaded) *config.Loaded {
	t.Helper()
	dir, err := precompiled()
	if err == nil {
		err = os.CopyFS(l.CompiledDir(), os.DirFS(dir))
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// scratch is a directory for all tests.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "sallyport-test-") })

var precompiled = sync.OnceValues(func() (string, error) {
	root, err := scratch()
	if err != nil {
		return "", err
	}
	host := config.Host{Dir: root, Home: root, Now: time.Now(), Getenv: func(name string) string {
		return map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}[name]
	}}
	l, err := config.Parse("version: 1\n", filepath.Join(root, "c.yaml"), "--config", host)
	if err != nil {
		return "", err
	}
	if _, err := Policies(context.Background(), l); err != nil {
		return "", err
	}
	return l.CompiledDir(), os.MkdirAll(l.CompiledDir(), 0o700) // it is not there where topdown judges
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := scratch(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// KeyOf is the key under which a Keeper keeps a gate.
func KeyOf(l *config.Loaded, o Options) (string, error) { return keyOf(l, o) }

// KeeperOf is a Keeper of gates that assemble makes.
func KeeperOf(assemble func(context.Context, *config.Loaded, Options) (*Sallyport, error)) *Keeper {
	return &Keeper{assemble: assemble}
}

// MostKept is the number of gates beyond which a Keeper closes some.
const MostKept = mostKept
