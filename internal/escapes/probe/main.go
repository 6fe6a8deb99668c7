// Probe is the attacker's tool of the escape corpus: one system call, or a few, that no shell can make.
// It is static, so that it runs in every environment, and starts no process.
//
// It prints the word in $GOT if the kernel permitted a call that it must refuse to a confined process, or
// the text that it could read, and fails otherwise. It is for tests only; the test builds it.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "probe: name an attack")
		os.Exit(2)
	}
	attack, ok := attacks()[os.Args[1]]
	if !ok {
		fmt.Fprintf(os.Stderr, "probe: no attack %q\n", os.Args[1])
		os.Exit(2)
	}
	said, err := attack(words(os.Args[2:]))
	if said != "" {
		fmt.Println(said)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "probe: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// got is the word that says: this went through.
func got() string { return os.Getenv("GOT") }

// through is the result of an attack that is over when the kernel does not refuse.
func through(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return got(), nil
}

// words are the operands of an attack; one that is missing is empty.
type words []string

func (w words) at(i int) string {
	if i < len(w) {
		return w[i]
	}
	return ""
}

func (w words) num(i int) int {
	n, err := strconv.Atoi(w.at(i))
	if err != nil {
		return 0
	}
	return n
}
