// Command witness serves one log with the witness of transparency-dev, in memory: the counterpart of a test.
// It prints its address and its verifier key, each on a line, and ends with its standard input.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	f_note "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/witness/persistence/inmemory"
	"github.com/transparency-dev/witness/witness"
	"golang.org/x/mod/sumdb/note"
)

func main() {
	if err := serve(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func serve(logKey string) error {
	ofLog, err := note.NewVerifier(logKey)
	if err != nil {
		return err
	}
	secret, public, err := note.GenerateKey(rand.Reader, "witness.example")
	if err != nil {
		return err
	}
	signer, err := f_note.NewSignerForCosignatureV1(secret)
	if err != nil {
		return err
	}
	key, err := f_note.VKeyToCosignatureV1(public)
	if err != nil {
		return err
	}
	w, err := witness.New(context.Background(), witness.Opts{
		Persistence: inmemory.New(), Signers: []note.Signer{signer},
		VerifierForLog: func(_ context.Context, origin string) (note.Verifier, bool, error) {
			return ofLog, origin == ofLog.Name(), nil
		},
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	http.HandleFunc("POST /add-checkpoint", witness.NewHTTPHandler(w).AddCheckpoint)
	go func() { _ = http.Serve(l, nil) }()
	fmt.Printf("%s\n%s\n", l.Addr(), key)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
