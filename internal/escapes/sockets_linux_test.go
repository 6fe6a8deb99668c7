package escapes

// sockets are tries to talk to something on the host or to a network.
func sockets() []try {
	return []try{
		{name: "the engine's socket", text: `"$PROBE" unix "$OUT/engine.sock"`, bubblewrap: absent, docker: absent},
		{name: "an agent's socket in a place for reading", text: `"$PROBE" unix "$CTX/agent.sock"`, accepted: unixForRoot(), bubblewrap: noUnix, docker: noUnix},
		{name: "an agent's socket in the workspace", text: `"$PROBE" unix "$WS/agent.sock"`, accepted: unixForRoot(), bubblewrap: noUnix, docker: noUnix},
		{name: "a socket for messages in the workspace", text: `"$PROBE" unixgram "$WS/notify.sock"`, accepted: unixForRoot(), bubblewrap: noUnix, docker: noUnix},
		{name: "a socket by a link", text: `"$PROBE" unix "$WS/planted-socket"`, bubblewrap: absent, docker: absent},
		{name: "a socket by /proc/1/root", text: `"$PROBE" unix "/proc/1/root$OUT/engine.sock"`, alone: `try`, bubblewrap: noPID, docker: noPID},
		{name: "an abstract socket", text: `"$PROBE" unix "@$ABSTRACT"`, bubblewrap: noNet, docker: noNet},
		{name: "the names of abstract sockets", text: `grep -q "$ABSTRACT" /proc/net/unix && echo "$GOT"`, bubblewrap: noNet, docker: noNet},
		{name: "TCP to the host's loopback", text: `"$PROBE" tcp "127.0.0.1:$TCP"`, bubblewrap: noNet, docker: noNet},
		{name: "TCP by the shell", text: `exec 3<>"/dev/tcp/127.0.0.1/$TCP" && cat <&3`, bubblewrap: noNet, docker: noNet},
		{name: "TCP to another address of the loopback", text: `"$PROBE" tcp "127.1.2.3:$TCP2"`, bubblewrap: noNet, docker: noNet},
		{name: "TCP over IPv6", text: `"$PROBE" tcp "[::1]:$TCP6"`, bubblewrap: noNet, docker: noNet},
		{name: "UDP", text: `"$PROBE" udp "127.0.0.1:$UDP"`, bubblewrap: noNet, docker: noNet},
		{name: "a raw socket", text: `"$PROBE" raw`, root: true, bubblewrap: noCap, docker: noCap},
		{name: "a packet socket", text: `"$PROBE" packet`, root: true, bubblewrap: seccomp, docker: noCap},
		{name: "vsock, to the machine's host", text: `"$PROBE" vsock`, bubblewrap: seccomp, docker: seccomp},
		{name: "make a network interface", text: `"$PROBE" link`, alone: `try`, apart: "net", bubblewrap: noCap, docker: noCap},
		{name: "enter the network of the host", text: `nsenter --net=/proc/1/ns/net "$PROBE" tcp "127.0.0.1:$TCP"; nsenter --net="/proc/$VICTIM/ns/net" "$PROBE" tcp "127.0.0.1:$TCP"`, root: true, bubblewrap: noPID, docker: noPID},
	}
}
