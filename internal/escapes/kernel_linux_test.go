package escapes

// kernel are tries on settings and interfaces that the whole machine shares. None changes anything: a
// setting is opened for writing and closed again, or set to what it is.
func kernel() []try {
	opens := func(paths string) string {
		return `for f in ` + paths + `; do { true >>"$f"; } && echo "$GOT" && break; done 2>/dev/null`
	}
	return []try{
		{name: "settings: core_pattern", text: opens("/proc/sys/kernel/core_pattern"), root: true, bubblewrap: readOnly, docker: readOnly},
		{name: "programs that the kernel starts, and sysrq", text: opens("/proc/sysrq-trigger /proc/sys/kernel/sysrq /proc/sys/kernel/modprobe /proc/sys/kernel/hotplug /proc/sys/kernel/poweroff_cmd"), root: true, bubblewrap: readOnly, docker: readOnly},
		{name: "settings: memory and files", text: opens("/proc/sys/vm/* /proc/sys/fs/file-max /proc/sys/fs/suid_dumpable"), root: true, bubblewrap: readOnly, docker: readOnly},
		{name: "interrupts and memory regions", text: opens("/proc/irq/default_smp_affinity /proc/irq/*/smp_affinity /proc/mtrr"), root: true, bubblewrap: readOnly, docker: readOnly},
		{name: "/sys", text: opens("/sys/kernel/uevent_helper /sys/power/state /sys/kernel/mm/transparent_hugepage/enabled /sys/module/*/parameters/* /sys/class/net/lo/mtu"), root: true, bubblewrap: absent, docker: readOnly},
		{name: "control groups", text: `for d in /sys/fs/cgroup /sys/fs/cgroup/*; do [ -e "$d/cgroup.procs" ] && mkdir "$d/escapes-$$" && rmdir "$d/escapes-$$" && echo "$GOT"; done 2>/dev/null`, root: true, bubblewrap: absent, docker: readOnly},
		{name: "devices of the machine", text: `for f in /dev/mem /dev/kmem /dev/port /dev/kmsg /dev/kvm /dev/fuse /dev/net/tun /dev/loop-control /dev/userfaultfd /dev/uinput /dev/tty0 /dev/btrfs-control; do { true <"$f"; } && echo "$GOT"; done 2>/dev/null`, root: true, bubblewrap: "a /dev with seven harmless devices", docker: "a /dev of its own, and the rules of the devices controller"},
		{name: "the kernel's log", text: `"$PROBE" syslog; head -c 1 /proc/kmsg | grep -q . && echo "$GOT"`, alone: `"$PROBE" syslog`, bubblewrap: seccomp, docker: noCap},
		{name: "addresses of the kernel", text: `grep -vq '^0* ' /proc/kallsyms && echo "$GOT"; head -c 1 /proc/kcore | grep -q . && echo "$GOT"`, root: true, bubblewrap: noCap, docker: "masked"},
		{name: "keyring", text: `"$PROBE" keyring`, bubblewrap: seccomp, docker: seccomp},
		{name: "bpf", text: `"$PROBE" bpf`, root: true, bubblewrap: seccomp, docker: seccomp},
		{name: "perf", text: `"$PROBE" perf`, root: true, bubblewrap: seccomp, docker: seccomp},
		{name: "io_uring", text: `"$PROBE" uring`, root: true, bubblewrap: seccomp, docker: seccomp},
		{name: "userfaultfd", text: `"$PROBE" userfault`, bubblewrap: seccomp, docker: seccomp},
		{name: "type into the operator's terminal", text: `"$PROBE" tiocsti`, terminal: true, bubblewrap: "no terminal; --new-session; seccomp", docker: "no terminal"},
		{name: "swap", text: `dd if=/dev/zero of=swap bs=4096 count=4 2>/dev/null; "$PROBE" swap "$WS/swap"; rm -f swap`, root: true, bubblewrap: noCap, docker: noCap},
		{name: "restart the machine", text: `"$PROBE" reboot`, root: true, bubblewrap: noCap, docker: noCap},
		{name: "the clock", text: `"$PROBE" clock`, root: true, bubblewrap: noCap, docker: noCap},
		{name: "accounting", text: `"$PROBE" acct`, root: true, bubblewrap: noCap, docker: noCap},
		{name: "the name of the host", text: `hostname "$ABSTRACT"; echo "$ABSTRACT" >/proc/sys/kernel/hostname`, alone: `hostname x; try; [ "$(hostname)" != x ] && echo "$GOT"`, apart: "uts", bubblewrap: "a name of its own", docker: "a name of its own"},
		{name: "System V shared memory", text: `"$PROBE" shm "$SHM"`, bubblewrap: ownIPC, docker: ownIPC},
		{name: "POSIX shared memory", text: `cat "/dev/shm/$ABSTRACT"`, bubblewrap: ownIPC, docker: ownIPC},
		{name: "write POSIX shared memory", text: `echo x >"/dev/shm/$ABSTRACT"`, bubblewrap: ownIPC, docker: ownIPC},
		{name: "a POSIX message queue", text: `"$PROBE" queue "$ABSTRACT"`, bubblewrap: ownIPC, docker: ownIPC},
	}
}

// diskOfEngine is why a container whose root can be written to takes room from the host.
const diskOfEngine = "the container's root can be written to, and lies on the engine's disk, as the workspace lies on yours"

// volumeOfEngine is the same for a container whose root is read-only.
const volumeOfEngine = "HOME and /opt/venv of the runtime image are volumes on the engine's disk"

// resources are tries to take what the rest of the machine needs. Each stops by itself at an amount that
// this machine can bear, and that a confined process must not reach.
func resources() []try {
	return []try{
		{name: "processes", text: `"$PROBE" threads 2000`, ends: true, bubblewrap: "the pids controller, or the user's limit on processes", docker: "pids limit"},
		{name: "a fork bomb", text: `sh -c 'i=0; while [ $i -lt 1500 ]; do sleep 1000 & i=$((i+1)); done; echo "$GOT"'`, ends: true, bubblewrap: "the pids controller, or the user's limit on processes", docker: "pids limit"},
		{name: "memory", text: `"$PROBE" memory 1200`, ends: true, told: "memory", bubblewrap: "the memory controller, where a control group can be made; else the environment says that it does not", docker: "the memory controller"},
		{name: "memory by many", text: `p="$PROBE memory 200"; $p $p $p $p $p $p`, ends: true, told: "memory",
			bubblewrap: "the memory controller, where a control group can be made; else the environment says that it does not", docker: "the memory controller"},
		{name: "temporary files in memory", text: `"$PROBE" fill /tmp 1200`, ends: true, alone: `mount -t tmpfs -o size=2g none /mnt; "$PROBE" fill /mnt 1200`, bubblewrap: "tmpfs with a size", docker: "tmpfs with a size"},
		{name: "shared memory", text: `"$PROBE" fill /dev/shm 1200`, ends: true, bubblewrap: "tmpfs with a size", docker: "tmpfs with a size"},
		{name: "other places in memory", text: `for d in / /dev /run /home /var /home/* /var/tmp /mnt /etc "$HOME"; do [ "$d" -ef /tmp ] || [ "$d" -ef "$WS" ] || "$PROBE" fill "$d" 1200 && break; done 2>/dev/null`, ends: true, alone: `mount -t tmpfs -o size=2g none /mnt; "$PROBE" fill /mnt 1200`, accepted: map[string]string{inDocker: volumeOfEngine, inDockerSudo: diskOfEngine, asSudo: diskOfEngine}, bubblewrap: readOnly + ", or tmpfs with a size", docker: readOnly + ", or tmpfs with a size"},
		{name: "open files", text: `ulimit -n "$(ulimit -Hn)"; "$PROBE" files 15000`, bubblewrap: "a limit on open files", docker: "a limit on open files"},
		{name: "a class of scheduling before all others", text: `"$PROBE" realtime; chrt -f 1 true && echo "$GOT"`, alone: `try`, bubblewrap: noCap, docker: noCap},
		{name: "ahead of others", text: `was=$(nice) nice -n -5 sh -c '[ "$(nice)" -lt "$was" ]' && echo "$GOT"`, alone: `try`, bubblewrap: noCap, docker: noCap},
	}
}
