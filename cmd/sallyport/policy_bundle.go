package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/policies"
)

func (a *app) policyBuild() *cobra.Command {
	var out, key, revision string
	cmd := &cobra.Command{
		Use:   "build [DIR…] -o FILE",
		Short: "Pack policies into a bundle",
		Long: `Pack the policies of directories, by default those that the configuration names, into a bundle in the format of
OPA: modules without their tests, and data. What could not be loaded is not packed. With --key the bundle is signed.`,
		Example: "  sallyport policy build policies -o bundle.tar.gz --key key.pem",
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write: its name ends in .tar.gz")
	cmd.Flags().StringVar(&key, "key", "", "`file` with the private key to sign with, in PEM: EC (P-256) or RSA")
	cmd.Flags().StringVar(&revision, "revision", "", "`name` of this version of the policies (default: one that follows their content)")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if !rego.IsBundle(out) {
			return usageError{fmt.Errorf("-o %s: want the name of a file that ends in .tar.gz", printable(out))}
		}
		dirs, err := a.policyDirs(args)
		if err != nil {
			return err
		}
		secret, err := readKey(key)
		if err != nil {
			return err
		}
		text, err := rego.BuildBundle(rego.BundleOptions{Builtin: policies.FS(), Dirs: dirs, Revision: revision, Key: secret})
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
		Long: `Read a bundle and say what is in it. With --key it must be signed by one of the keys; without, it must not be
signed, for a signature that nobody checks means nothing. Exits with 0 when all is well and with 1 when it is not.`,
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
		fmt.Fprintf(a.out, "revision %s, %s, %s\n", printable(info.Revision), count(len(info.Modules), "module"), state)
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
