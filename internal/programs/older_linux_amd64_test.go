package programs

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// starts32 starts its first argument by a system call of i386.
const starts32 = `__asm__(".globl _start\n_start:\nmov $11, %eax\nmov 8(%esp), %ebx\nlea 8(%esp), %ecx\n"
	"xor %edx, %edx\nint $0x80\nmov $1, %eax\nmov $9, %ebx\nint $0x80\n");
`

// A program of the older architecture starts no other: its system calls have other numbers, which nobody
// judges.
func TestStartsOfOlderArchitecture(t *testing.T) {
	home := home(t)
	write(t, home+"/project/starts.c", starts32, 0o644)
	build := exec.Command(leftout.Command(t, "gcc"), "-m32", "-nostdlib", "-static", "-o", "starts", "starts.c")
	build.Dir = home + "/project"
	if out, err := build.CombinedOutput(); err != nil {
		leftout.Skip(t, leftout.Platform, "gcc makes no program of i386: "+string(out))
	}
	plain := exec.Command("./starts", "/bin/echo", "started")
	plain.Dir = build.Dir
	if out, err := plain.CombinedOutput(); err != nil || string(out) != "started\n" {
		leftout.Skip(t, leftout.Processor, "the kernel runs no program of i386")
	}
	for _, sandbox := range []string{"none", "auto"} {
		t.Run(sandbox, func(t *testing.T) {
			if sandbox == "auto" {
				leftout.Command(t, "bwrap")
			}
			write(t, home+"/"+sandbox+".yaml",
				"version: 1\nprograms: {mode: judged}\nlocal: {sandbox: "+sandbox+"}\n", 0o600)
			cmd := exec.Command(program, "--config", home+"/"+sandbox+".yaml", "exec", "--format", "json", "-c",
				"./starts /bin/echo started; echo $?")
			cmd.Dir, cmd.Env = build.Dir, environment(home)
			out := answered(t, cmd)
			text := out.Stdout.Text
			if out.Programs == nil || strings.Contains(text, "started") || text == "" || out.Programs.Started != 1 {
				t.Errorf("it started a program: %+v", out)
			}
		})
	}
}
