package escapes

// mounts are tries to change what is mounted, or to become root in namespaces. Their proofs run as root
// in namespaces of their own.
func mounts() []try {
	const ok = ` && echo "$GOT"`
	const caps = "no capability, and seccomp"
	return []try{
		{name: "bind over a place for reading", text: `mkdir -p evil; mount --bind evil "$CTX"` + ok, alone: `try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "mount again for writing", text: `mount -o remount,rw,bind "$CTX"` + ok, alone: `mount --bind -o ro "$CTX" "$CTX"; mount -o remount,ro,bind "$CTX"; try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "mount a protected place again for writing", text: `mount -o remount,rw,bind "$WS/.git/hooks" && echo x >.git/hooks/new` + ok, alone: `mount --bind "$WS/.git/hooks" "$WS/.git/hooks"; mount -o remount,ro,bind "$WS/.git/hooks"; try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "unmount a protected place", text: `umount -l "$WS/.git/hooks" && echo x >.git/hooks/new` + ok, alone: `mount --bind "$WS/.git/hooks" "$WS/.git/hooks"; mount -o remount,ro,bind "$WS/.git/hooks"; try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "unmount what hides the host", text: `umount -l /tmp; umount -l "$WS"; umount -l "$(dirname "$OUT")"; cat "$OUT/secret"`, alone: `mount -t tmpfs none "$(dirname "$OUT")"; try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "a file system of its own", text: `mkdir -p m; mount -t tmpfs none m` + ok, alone: `try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "a new /proc", text: `mkdir -p m; mount -t proc none m` + ok, alone: `try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "an overlay over a place for reading", text: `mkdir -p up work; mount -t overlay -o "lowerdir=$CTX,upperdir=up,workdir=work" none "$CTX"` + ok, alone: `d=$(mktemp -d); mount -t tmpfs none "$d"; cd "$d"; try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "the controllers of the machine, for release_agent", text: `mkdir -p m; for c in pids memory rdma; do mount -t cgroup -o $c none m && echo "$GOT" && break; done; mount -t cgroup2 none m` + ok, alone: `try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "the disk of the machine", text: `mkdir -p m; read -r _ _ d _ < <(grep ' / / ' /proc/self/mountinfo); for n in /dev/[vs]d* /dev/nvme* /dev/loop0; do [ -b "$n" ] && head -c 1 "$n" >/dev/null` + ok + `; done`, alone: `mknod /dev/sdz9 b 1 0 2>/dev/null; try; rm -f /dev/sdz9`, bubblewrap: "a /dev with seven harmless devices", docker: "a /dev of its own, and the rules of the devices controller"},
		{name: "the mount calls of newer kernels: fsopen", text: `"$PROBE" fsopen tmpfs`, alone: `try`, bubblewrap: caps, docker: caps},
		{name: "the mount calls of newer kernels: open_tree", text: `"$PROBE" opentree /`, alone: `try`, bubblewrap: caps, docker: caps},
		{name: "another root", text: `mkdir -p root; "$PROBE" chroot root`, alone: `try`, asRoot: true, bubblewrap: caps, docker: noCap},
		{name: "pivot_root", text: `mkdir -p new; mount --bind new new && mkdir -p new/old && pivot_root new new/old` + ok, alone: `mount --make-rprivate /; try`, apart: "mnt", bubblewrap: caps, docker: caps},
		{name: "root in a user namespace", text: `"$PROBE" clone user`, alone: `try`, bubblewrap: "--disable-userns, and seccomp", docker: seccomp},
		{name: "root in a user namespace by clone3", text: `"$PROBE" clone3`, alone: `try`, bubblewrap: "--disable-userns, and seccomp", docker: seccomp},
		{name: "mounts in a user namespace", text: `unshare -Urm sh -c 'mount -t tmpfs none /tmp' ` + ok, alone: `try`, bubblewrap: "--disable-userns, and seccomp", docker: seccomp},
		{name: "a network in a user namespace", text: `unshare -Urn true ` + ok, alone: `try`, bubblewrap: "--disable-userns, and seccomp", docker: seccomp},
		{name: "other namespaces", text: `for n in mount net pid ipc uts cgroup; do "$PROBE" clone $n; done`, alone: `try`, bubblewrap: noCap, docker: noCap},
		{name: "the mounts of a process of the host", text: `nsenter -m -t "$VICTIM" cat "$OUT/secret"; nsenter -m -t 1 cat "$OUT/secret"`, root: true, bubblewrap: noPID, docker: noPID},
	}
}
