package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

// A question about a name is answered by its number; others break the connection.
func TestQuestions(t *testing.T) {
	t.Parallel()
	ask := func(n int) string {
		return string(framed(fmt.Sprintf(`{"ask":{"number":%d,"path":"/ws/%d"}}`, n, n)))
	}
	start := func(n int, word string) string {
		return string(framed(fmt.Sprintf(`{"ask":{"number":%d,"program":{"path":"/bin/%s","file":"/bin/%[2]s",`+
			`"dir":"/","argv":"%[2]s\u0000"}}}`, n, word)))
	}
	for _, tc := range []struct {
		name, questions, want string
		deaf                  bool
	}{
		{"two", ask(1) + ask(2), "1 false 2 true", false},
		{"none was offered", ask(1), "question 1 about a name", true},
		{"not the next", ask(2), "question 2 after 0", false},
		{"of both kinds", start(1, "rm") + start(2, "ls"), "1 false 2 true", false},
		{"no programs were offered", start(1, "ls"), "question 1 about a program", true},
		{"without words", string(framed(`{"ask":{"number":1,"program":{"path":"/x","file":"/x","dir":"/","argv":""}}}`)),
			"a program at", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := make(chan string, 1)
			env := liar(t, func(st net.Conn, o opening) {
				var in order
				_ = readFrame(st, &in)
				_, _ = st.Write(framed(`{"started":{"pid":7}}`))
				_, _ = io.WriteString(st, tc.questions)
				answers := map[uint64]bool{}
				for len(answers) < 2 && readFrame(st, &in) == nil && in.Answer != nil {
					answers[in.Answer.Number] = in.Answer.Yes
					in = order{}
				}
				got <- fmt.Sprint("1 ", answers[1], " 2 ", answers[2])
				_, _ = io.WriteString(st, anExit()+theEnd+theEnd)
			})
			c := sleep
			if !tc.deaf {
				c.MayMake = func(p string) bool { return p == "/ws/2" }
				c.MayStart = func(p engine.Program) bool { return p.Argv[0] == "ls" }
			}
			p, err := env.Start(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			x := p.Wait()
			if answers := <-got; x.Error == nil && answers != tc.want ||
				x.Error != nil && !strings.Contains(x.Error.Error(), tc.want) {
				t.Errorf("got %q, %v", answers, x.Error)
			}
		})
	}
}

// A question that nobody answers is answered with no when the stream ends.
func TestQuestionWithoutAnswer(t *testing.T) {
	t.Parallel()
	q := newQuestions(&reporter{to: io.Discard})
	close(q.begun)
	go q.end()
	if q.ask("/ws/x") {
		t.Error("the name may be made")
	}
	q.names.Store(maxQuestions)
	q.over = make(chan struct{})
	if q.ask("/ws/x") {
		t.Error("the name after the last question may be made")
	}
}
