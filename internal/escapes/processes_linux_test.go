package escapes

// keepers lists what keeps the command, as it sees it: its parent, and the first process.
const keepers = `for k in $PPID $FIRST; do `

// processes are tries on the keeper, the gateway and other processes of the host.
func processes() []try {
	return []try{
		{name: "end the keeper", text: `kill -KILL $PPID; kill -TERM $PPID; sleep 0.3`, ends: true, asRoot: true, bubblewrap: "the keeper has rights that the command lacks", docker: otherUser},
		{name: "stop the keeper", text: `kill -STOP $PPID && for n in $(seq 50); do sleep 0.1; grep -q 'State:.T' /proc/$PPID/status && kill -CONT $PPID && echo "$GOT" && break; done`, ends: true, asRoot: true, bubblewrap: "the keeper has rights that the command lacks", docker: otherUser},
		{name: "signals that make a Go program say something or end", text: `for s in QUIT ABRT USR1 USR2 HUP INT SEGV PIPE ALRM TRAP; do kill -$s $PPID; done; sleep 0.3`, ends: true, asRoot: true, bubblewrap: "the keeper has rights that the command lacks", docker: otherUser},
		{name: "end the first process", text: `kill -KILL 1; kill -TERM 1 && kill -INT 1 && sleep 3`, apart: "pid", ends: true, alone: `trap 'echo "$GOT"; exit' TERM; (try) & wait; wait`, asRoot: true, bubblewrap: "the kernel keeps the first process of a namespace from signals out of it", docker: otherUser},
		{name: "end everything", text: `kill -KILL -1; sleep 0.3`, apart: "pid", ends: true, alone: `setsid sleep 60 & v=$!; (try) & wait $v; [ $? -eq 137 ] && echo "$GOT"`, asRoot: true, bubblewrap: noPID, docker: noPID + ", and the keeper has another user"},
		{name: "stop everything", text: `kill -STOP -1; sleep 0.3`, silent: true, apart: "pid", ends: true, alone: `setsid sleep 60 & v=$!; (try); until grep -q 'State:.T' /proc/$v/status; do sleep 0.1; done; echo "$GOT"`, asRoot: true, bubblewrap: noPID, docker: noPID + ", and the keeper has another user"},
		{name: "end a process of the host", text: `kill -KILL "$VICTIM"`, bubblewrap: noPID, docker: noPID},
		{name: "stop a process of the host", text: `kill -STOP "$VICTIM"`, bubblewrap: noPID, docker: noPID},
		{name: "see the processes of the host", text: `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -q "[h]old $OUT/secret" && echo "$GOT"`, bubblewrap: noPID, docker: noPID},
		{name: "the environment of a process of the host", text: `cat "/proc/$VICTIM/environ"`, bubblewrap: noPID, docker: noPID},
		{name: "the environment of everything that is to be seen", text: `cat /proc/[0-9]*/environ 2>/dev/null | grep -a -o 'ESCAPES_SECRET=secret-[0-9a-f]*'`, bubblewrap: noPID + "; the sandbox is started with a cleared environment", docker: noPID},
		{name: "a file that a process of the host has open", text: `cat "/proc/$VICTIM/fd/$VICTIM_FD"`, bubblewrap: noPID, docker: noPID},
		{name: "take a file out of a process of the host", text: `"$PROBE" pidfd "$VICTIM" "$VICTIM_FD"`, bubblewrap: noPID, docker: noPID},
		{name: "the memory of a process of the host", text: `"$PROBE" vmread "$VICTIM" "$VICTIM_AT"; dd if="/proc/$VICTIM/mem" bs=1 skip="$VICTIM_AT" count=64 iflag=skip_bytes 2>/dev/null`, bubblewrap: noPID, docker: noPID},
		{name: "trace a process of the host", text: `"$PROBE" ptrace "$VICTIM"`, bubblewrap: noPID, docker: noPID},
		{name: "trace the keeper", text: keepers + `"$PROBE" ptrace $k; done`, asRoot: true, bubblewrap: seccomp, docker: otherUser},
		{name: "the memory of the keeper, by a system call", text: keepers + `"$PROBE" vmread $k; done`, asRoot: true, bubblewrap: seccomp, docker: otherUser},
		{name: "the memory of the keeper, by /proc", text: keepers + `exec 3<>/proc/$k/mem && echo "$GOT"; done 2>/dev/null`, asRoot: true, bubblewrap: "the keeper cannot be traced, so the kernel shuts its files in /proc", docker: otherUser},
		{name: "the environment of the keeper", text: keepers + `cat /proc/$k/environ | tr '\0' '\n' | grep -q . && echo "$GOT"; done 2>/dev/null`, asRoot: true, bubblewrap: "the keeper cannot be traced, so the kernel shuts its files in /proc", docker: otherUser},
		{name: "the descriptors of the keeper", text: keepers + `ls -l /proc/$k/fd | grep -q -e "->" && echo "$GOT"; done 2>/dev/null`, asRoot: true, bubblewrap: "the keeper cannot be traced, so the kernel shuts its files in /proc", docker: otherUser},
		{name: "take a descriptor from the keeper", text: keepers + `for n in 0 1 2 3 4 5; do "$PROBE" pidfd $k $n any; done; done 2>/dev/null`, asRoot: true, bubblewrap: seccomp, docker: otherUser},
		{name: "write into the stream of the keeper", text: keepers + `for n in 1 2; do printf '\377\377\377\377forged, all of it' >/proc/$k/fd/$n; done; done 2>/dev/null; sleep 0.2`, asRoot: true, bubblewrap: "the keeper cannot be traced, so the kernel shuts its files in /proc", docker: otherUser},
		{name: "read the stream of the keeper", text: keepers + `timeout 0.3 head -c 1 /proc/$k/fd/0 | grep -q . && echo "$GOT"; [ -r /proc/$k/fd/0 ] && echo "$GOT"; done 2>/dev/null`, asRoot: true, bubblewrap: "the keeper cannot be traced, so the kernel shuts its files in /proc", docker: otherUser},
		{name: "take from the keeper the right to open files", text: keepers + `"$PROBE" prlimit $k; done`, asRoot: true, bubblewrap: seccomp, docker: otherUser},
		{name: "set the keeper back", text: keepers + `"$PROBE" priority $k; done`, asRoot: true, bubblewrap: "the keeper has rights that the command lacks", docker: otherUser},
		{name: "bind the keeper to a processor", text: keepers + `"$PROBE" affinity $k; done`, asRoot: true, bubblewrap: "the keeper has rights that the command lacks", docker: otherUser},
		{name: "make the keeper the first to die of want of memory", text: keepers + `echo 999 >/proc/$k/oom_score_adj && echo "$GOT" && echo 0 >/proc/$k/oom_score_adj; done 2>/dev/null`, asRoot: true, accepted: map[string]string{inBubblewrap: "where sallyport itself runs as root: a command can have its own sandbox ended first"}, bubblewrap: "the keeper cannot be traced, so the kernel shuts its files in /proc", docker: otherUser},
		{name: "the gateway", text: `grep -qF "$GATEWAY_NAME" "/proc/$GATEWAY/cmdline" && cat "/proc/$GATEWAY/environ" >/dev/null && echo "$GOT"`, bubblewrap: noPID, docker: noPID},
		{name: "compare with the keeper", text: keepers + `"$PROBE" kcmp $k; done`, asRoot: true, bubblewrap: seccomp, docker: otherUser},
	}
}

// surviving are tries to stay when the command has ended: what stays has $TAG among its arguments.
func surviving() []try {
	const why = dies
	return []try{
		{name: "forked twice, in a session of its own", text: `(setsid sh -c '(sleep "$0" &)' "$TAG" </dev/null >/dev/null 2>&1 &)`, bare: true, bubblewrap: why, docker: why},
		{name: "nohup, deaf to all signals, closed descriptors", text: `(trap '' TERM HUP INT; nohup setsid sleep "$TAG" <&- >&- 2>&- &)`, bare: true, bubblewrap: why, docker: why},
		{name: "stopped", text: `(setsid sh -c 'kill -STOP $$; sleep 0' "$TAG" &)`, bare: true, bubblewrap: why, docker: why},
		{name: "without an environment, under another name", text: `(setsid env -i bash -c 'exec -a "kworker $0" sleep "$0"' "$TAG" &)`, bare: true, bubblewrap: why, docker: why},
		{name: "moved to another control group", text: `for d in /sys/fs/cgroup/*/ /sys/fs/cgroup/; do mkdir "$d/escapes" && echo $$ >"$d/escapes/cgroup.procs" && rmdir "$d/escapes"; echo 0 >"$d/cgroup.procs"; done 2>/dev/null; (setsid sleep "$TAG" &)`, bare: true, bubblewrap: why + "; no control group is to be seen", docker: why + "; control groups are read-only"},
		{name: "by a file for cron", text: `mkdir -p /etc/cron.d && echo x >"/etc/cron.d/$ABSTRACT"; echo x >"/var/spool/cron/crontabs/$ABSTRACT"`, alone: `mount -t tmpfs none /etc; try; [ -e "/etc/cron.d/$ABSTRACT" ] && echo "$GOT"`, bubblewrap: readOnly, docker: "the root of the container is not that of the host"},
		{name: "one that starts itself anew as it is ended", text: `(setsid sh -c 'trap "" TERM; i=0; while [ $i -lt 99 ]; do sleep "$0"; i=$((i+1)); done' "$TAG" &)`, bare: true, bubblewrap: why, docker: why},
	}
}
