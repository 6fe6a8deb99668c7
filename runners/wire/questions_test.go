package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
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
				c.MayStart = func(p engine.Program) engine.Verdict { return engine.Verdict{May: p.Argv[0] == "ls"} }
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

// An answer that holds answers equal questions, until the order to forget. Each is counted.
func TestRepeats(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer func() { _, _ = here.Close(), there.Close() }()
	q := newQuestions(&reporter{to: there}, facts.OSFS{})
	close(q.begun)
	dir := t.TempDir()
	program := engine.Program{Path: "/bin/ls", File: "/bin/ls", Dir: dir, Argv: []string{"ls", "a"}}
	asked := func(p engine.Program, again bool) {
		t.Helper()
		may := make(chan engine.Verdict)
		go func() { may <- q.start(p) }()
		var r report
		if err := readFrame(here, &r); err != nil || r.Ask == nil || r.Ask.Program == nil {
			t.Fatalf("%+v, %v", r, err)
		}
		q.answer(verdict{Number: r.Ask.Number, Yes: true, Again: again})
		if v := <-may; !v.May {
			t.Error("the answer is lost")
		}
	}
	repeated := func(p engine.Program) {
		t.Helper()
		if v := q.start(p); !v.May { // nobody reads a question
			t.Error("refused")
		}
	}
	asked(program, false)
	asked(program, true) // 2
	repeated(program)
	program.Way = func() []string { return []string{"make"} }
	repeated(program)
	other := program
	other.Argv = []string{"ls", "b"}
	asked(other, true) // 3
	if err := os.WriteFile(dir+"/a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	asked(program, true) // 4: a file that it names has come
	repeated(program)
	q.forget()
	asked(program, true) // 5
	repeated(program)
	program.Begun = true
	asked(program, false)
	if got := q.counted(); !slices.Equal(got, []repeat{{2, 2}, {4, 1}, {5, 1}}) {
		t.Errorf("counted %v", got)
	}
}

// The order to forget follows the answers that it is about, and repeats count only for these.
func TestAnswersAreOver(t *testing.T) {
	t.Parallel()
	question := func(n int) []byte {
		return framed(fmt.Sprintf(`{"ask":{"number":%d,"program":`+
			`{"path":"/a","file":"/a","dir":"/","argv":"%[1]d\u0000"}}}`, n))
	}
	for _, tc := range []struct {
		repeats, want string
		times         int
	}{
		{"", "", 0},
		{`{"number":1,"times":3}`, "", 3},
		{`{"number":1,"times":3},{"number":1,"times":3}`, "3 repeats of question 1", 3},
		{`{"number":1,"times":-1}`, "-1 repeats of question 1", 0},
		{`{"number":2,"times":1}`, "1 repeats of question 2", 0},
		{`{"number":3,"times":1}`, "1 repeats of question 3", 0},
	} {
		over := make(chan struct{})
		env := liar(t, func(st net.Conn, o opening) {
			var in order
			_ = readFrame(st, &in)
			_, _ = st.Write(framed(`{"started":{"pid":7}}`))
			for n := 1; n <= 3; n++ {
				in = order{}
				_, _ = st.Write(question(n))
				if err := readFrame(st, &in); err != nil || in.Answer == nil || in.Answer.Again != (n == 1) {
					t.Errorf("order %d: %+v, %v", n, in, err)
				}
			}
			close(over)
			if in = (order{}); readFrame(st, &in) != nil || !in.Forget {
				t.Errorf("order %+v", in)
			}
			exit := anExit(`{"exit":{`, `{"exit":{"repeats":[`+tc.repeats+`],`)
			_, _ = io.WriteString(st, exit+theEnd+theEnd)
		})
		c, times := sleep, 0
		past := make(chan struct{})
		close(past)
		c.MayStart = func(p engine.Program) engine.Verdict {
			v := engine.Verdict{May: p.Argv[0] != "2", Over: over, Again: func(n int) { times += n }}
			if p.Argv[0] == "3" {
				v.Over = past
			}
			return v
		}
		p, err := env.Start(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		x := p.Wait()
		said := fmt.Sprint(x.Error)
		if times != tc.times || (x.Error != nil) != (tc.want != "") || !strings.Contains(said, tc.want) {
			t.Errorf("%s: %d times, %v", tc.repeats, times, x.Error)
		}
	}
}

// A question that nobody answers is answered with no when the stream ends.
func TestQuestionWithoutAnswer(t *testing.T) {
	t.Parallel()
	q := newQuestions(&reporter{to: io.Discard}, nil)
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
