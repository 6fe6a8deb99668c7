package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/policies"
)

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
	cmd.Flags().StringVar(&key, "sign", "", "`file` with the private key to sign with, in PEM: EC (P-256) or RSA")
	cmd.Flags().StringVar(&revision, "revision", "", "`name` of this version of the policies (default: one that follows their content)")
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
		text, err := rego.BuildBundle(cmd.Context(), rego.BundleOptions{Builtin: policies.FS(), Dirs: dirs, Revision: revision, Serial: serial, Key: secret, WASM: compiled})
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
		fmt.Fprintf(a.out, "revision %s, %s, %s, %s\n", printable(info.Revision), order, count(len(info.Modules), "module"), state)
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
		return nil, fmt.Errorf("read key: %w: make one with: openssl ecparam -name prime256v1 -genkey -noout -out key.pem", err)
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
