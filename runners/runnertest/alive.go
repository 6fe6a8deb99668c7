package runnertest

import (
	"os"
	"strconv"
	"strings"
)

// style is a way in which a process can try to outlive its command. The text starts it in the
// background, with $TAG among its arguments; its processes live longer than any test waits.
type style struct {
	name, text string
	want       int // processes with the tag that show that it works
	needs      []string
}

func styles() []style {
	return []style{
		{"child", `sleep "$TAG" &`, 1, nil},
		{"own session", `setsid sleep "$TAG" &`, 1, []string{"setsid"}},
		{"forked twice", `( (sleep "$TAG" &) & )`, 1, nil},
		{"own session, forked twice, " +
			"no output", `(setsid sh -c '(sleep "$0" &)' "$TAG" </dev/null >/dev/null 2>&1 &)`, 1, []string{"setsid"}},
		{"deaf to TERM, HUP and INT", `(trap '' TERM HUP INT; exec sleep "$TAG") &`, 1, nil},
		{"nohup", `nohup sleep "$TAG" >/dev/null 2>&1 &`, 1, []string{"nohup"}},
		{"holds the output", `(trap '' TERM; setsid sleep "$TAG" &)`, 1, []string{"setsid"}},
		{"closed descriptors", `(sleep "$TAG" <&- >&- 2>&- &)`, 1, nil},
		{"stopped", `(sh -c 'kill -STOP $$; :' "$TAG" &)`, 1, nil},
		{"cleared environment", `(setsid env -i /bin/sh -c 'trap "" TERM; (sleep "$0" &); (sleep "$0" &)' "$TAG" &)`, 2, []string{"setsid"}},
		{"under another name", `(exec -a '[kworker/0:1]' setsid sleep "$TAG" &)`, 1, []string{"setsid", "bash"}},
		{"comes back", `(setsid sh -c 'trap "" TERM; i=0; while [ $i -lt 99 ]; do sleep "$0"; i=$((i+1)); done' "$TAG" &)`, 2, []string{"setsid"}},
		{"many", `i=0; while [ $i -lt 30 ]; do (setsid sleep "$TAG" &); i=$((i+1)); done`, 30, []string{"setsid"}},
		{"ever more", `(setsid sh -c 'trap "" TERM; i=0; while [ $i -lt 200 ]; do (setsid sleep "$0" &); sleep 0.02; i=$((i+1)); done' "$TAG" &)`, 4, []string{"setsid"}},
		{"runs away", `r='[ "$2" -gt 0 ] || exit; trap "" TERM; sleep 0.01; setsid sh -c "$0" "$0" "$1" $(($2-1)) &'; (setsid sh -c "$r" "$r" "$TAG" 300 &)`, 1, []string{"setsid"}},
	}
}

// Escapes is a text that starts processes in all the ways that need no program besides those that every
// environment has, and the least number that come of it. $TAG, which it needs, is among the arguments of
// each.
func Escapes() (text string, want int) {
	var all strings.Builder
	for _, st := range styles() {
		if st.want < 30 && !strings.Contains(st.text, "exec -a") {
			all.WriteString(st.text + "\n")
			want++
		}
	}
	return all.String(), want - 1 // one runs away until it ends
}

// NewTag is a number of seconds to sleep that nothing else sleeps.
func NewTag() string {
	return "1200." + strings.Map(func(r rune) rune { return '0' + r%10 }, nonce())
}

// Tagged lists the living processes of this machine, in all namespaces, with a tag among their arguments.
func Tagged(tag string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		panic(err) // a search for survivors must not end empty because of this
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline"); err == nil && strings.Contains(string(b), tag) {
			pids = append(pids, pid)
		}
	}
	return pids
}
