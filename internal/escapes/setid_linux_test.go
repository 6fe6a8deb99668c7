package escapes

// setID are tries to leave a file in the workspace that gives rights to whoever uses it on the host. What
// is there is looked for on the host, so these texts need not say anything.
func setID() []try {
	const mine = `cp /bin/true mine && `
	return []try{
		{name: "chmod, set user", text: mine + `chmod 4755 mine`, bubblewrap: noSet, docker: noSet},
		{name: "chmod, set group", text: mine + `chmod 2755 mine`, bubblewrap: noSet, docker: noSet},
		{name: "chmod by name", text: mine + `chmod u+s,g+s mine`, bubblewrap: noSet, docker: noSet},
		{name: "chmod by the bare system call", text: mine + `"$PROBE" chmod 6755 mine`, bubblewrap: noSet, docker: noSet},
		{name: "fchmodat2", text: mine + `"$PROBE" chmodat2 6755 mine`, bubblewrap: noSet, docker: noSet},
		{name: "open with the mode", text: `"$PROBE" create open 4755 made`, bubblewrap: noSet, docker: noSet},
		{name: "openat2 with the mode", text: `"$PROBE" create openat2 4755 made`, bubblewrap: noSet, docker: noSet},
		{name: "creat with the mode", text: `"$PROBE" create creat 4755 made`, bubblewrap: noSet, docker: noSet},
		{name: "mknod of a plain file with the mode", text: `"$PROBE" create mknod 4755 made`, bubblewrap: noSet, docker: noSet},
		{name: "a file without a name that gets one", text: `"$PROBE" tmpfile 4755 . made`, bubblewrap: noSet, docker: noSet},
		{name: "install", text: `install -m 4755 /bin/true made`, bubblewrap: noSet, docker: noSet},
		{name: "copy a set-id program with its mode", text: `for f in /usr/bin/su /bin/su /usr/bin/passwd /usr/bin/mount; do [ -u "$f" ] && cp -p "$f" made && break; done`, bubblewrap: noSet, docker: noSet},
		{name: "unpack an archive with the mode", text: `mkdir -p un && tar -C /bin --mode=4755 -cf - true | tar -C un -xpf -`, bubblewrap: noSet, docker: noSet},
		{name: "move one in from elsewhere", text: `cp /bin/true /tmp/$$ && chmod 4755 /tmp/$$; mv /tmp/$$ made`, bubblewrap: noSet, docker: noSet},
		{name: "a directory that gives its group", text: `"$PROBE" create mkdir 6777 made; mkdir -p dir && chmod 2777 dir`, bubblewrap: noSet, docker: noSet},
		{name: "capabilities of a file", text: mine + `"$PROBE" setcap mine`, root: true, bubblewrap: noCap, docker: noCap},
		{name: "a node of the machine's memory", text: `"$PROBE" mknod c 1 1 made`, root: true, bubblewrap: noCap, docker: noCap},
		{name: "a node of a disk", text: `"$PROBE" mknod b 7 0 made`, root: true, bubblewrap: noCap, docker: noCap},
		{name: "gain rights by a set-id program", text: `"$PROBE" nnp`, bare: true, asRoot: true, bubblewrap: "no_new_privs", docker: "no_new_privs"},
	}
}
