package inline

import "testing"

func TestRestOfTheTables(t *testing.T) {
	t.Parallel()
	for lang, cases := range map[string][]scanCase{
		"node": {
			{"comment of two lines", "const p = '/srv/a' /* two\nlines */ (f)()\nrequire('fs').unlinkSync(p)", []string{"delete [/srv/a]"}},
			{"bun", `Bun.spawn(["rm", "x"]); Bun.spawnSync({cmd: ["rm", "y"]})`, []string{"exec [rm] [x]", "exec [rm] [y]"}},
			{"deno", `new Deno.Command("rm", {args: ["x"]}).output()`, []string{"exec [rm] [x]"}},
			{"late text", `setTimeout("require('child_process').exec('id')", 5); setTimeout(() => 1, 5)`, []string{"shell [id]"}},
			{"servers", `require("net").createServer(s => s).listen(80); require("http").request({hostname: "a.example", method: "POST"}); require("http").request("http://b.example")`, []string{"listen [:80]", "upload [a.example]", "network [http://b.example]"}},
			{"split", `require("child_process").execSync("d i".split(" ").reverse().join("")); require("child_process").execSync("di".split("").reverse().join(""))`, []string{"shell [id]", "shell [id]"}},
			{"text", "require('child_process').execSync(String('id')); require('child_process').execSync('ID'.toLowerCase())", []string{"shell [id]", "shell [id]"}},
		},
		"perl": {
			{"open3", `open3($a, $b, $c, "rm", "x"); open2($a, $b, "rm y")`, []string{"exec [rm] [x]", "shell [rm y]"}},
			{"open2 with a list", `open2($a, $b, "rm", "x")`, []string{"exec [rm] [x]"}},
			{"open2 and open3 with few words", `open2($a, $b); open3($a, $b, "rm x")`, []string{"shell [rm x]"}},
			{"chown", `chown 0, 0, "a", "b"`, []string{"chown [a] [b]"}},
			{"sysopen", `sysopen(F, "a", O_WRONLY|O_CREAT); sysopen(F, "b", O_RDONLY)`, []string{"write [a]", "read [b]"}},
			{"sockets", `bind(S, sockaddr_in(80, INADDR_ANY)); IO::Socket::INET->new(PeerAddr => "192.0.2.1", PeerPort => 80); IO::Socket::INET->new(LocalPort => 81, Listen => 1)`, []string{"listen […]", "network [192.0.2.1:80]", "listen [:81]"}},
			{"addresses", `get("http://a.example"); get("x"); system(lc("ID"))`, []string{"network [http://a.example]", "shell [id]"}},
			{"by name", `&{"sys" . "tem"}("id")`, []string{"shell [id]"}},
			{"changed variable", `$x = "id"; $x =~ tr/a/b/; system $x`, []string{"shell [id]", "shell […]"}},
		},
		"php": {
			{"exec", `pcntl_exec("/bin/rm", ["x"]);`, []string{"exec [/bin/rm] [x]"}},
			{"create", `create_function('$a', 'system("id");');`, []string{"shell [id]"}},
			{"curl", `curl_setopt($c, CURLOPT_URL, "http://a.example"); curl_setopt($c, CURLOPT_POSTFIELDS, $x);`, []string{"network [http://a.example]", "upload […]"}},
			{"environment", `getenv(); print_r($_ENV); system(implode(" ", ["rm", "x"])); system(implode(["i", "d"]));`, []string{"env", "env", "shell [rm x]", "shell [id]"}},
			{"short functions", `array_map(fn($f) => unlink($f), glob("/srv/*"));`, []string{"delete {/srv/*}"}},
		},
		"python": {
			{"spawn", "import os\nos.spawnlp(os.P_WAIT, 'rm', 'rm', 'x')\nos.spawnvp(os.P_WAIT, 'rm', ['rm', 'y'])", []string{"exec [rm] [x]", "exec [rm] [y]"}},
			{"scripts", "import runpy\nrunpy.run_path('x.py')\nexec(open('y.py').read())", []string{"exec [python3] [x.py]", "dynamic […]", "read [y.py]"}},
			{"paths", "from pathlib import Path\nPath('a').open('w')\nPath('b').symlink_to('c')\nPath('d').rename('e')\nPath('f').chmod(0o777)", []string{"write [a]", "link [c] [b]", "rename [d] [e]", "chmod [f] mode=777"}},
			{"input", "import fileinput\nfor l in fileinput.input('a', inplace=True): pass", []string{"write [a]"}},
			{"archives", "import shutil, tarfile, zipfile\nshutil.unpack_archive('a.zip', '/srv')\ntarfile.open('b.tar').extractall('/opt')", []string{"read [a.zip]", "write [/srv] recursive", "read [b.tar]", "write [/opt] recursive"}},
			{"temporary", "import tempfile\nf = tempfile.NamedTemporaryFile()\nopen(f.name, 'w')", []string{"write [/tmp/…]"}},
			{"forks", "import os\nwhile True:\n  os.fork()", []string{"fork_bomb"}},
			{"bytes", "import os\nos.system(bytes([105, 100]).decode())\nos.system('DI'[::-1].lower())\nos.system(''.join(reversed('di')))", []string{"shell [id] decoded", "shell [id] decoded", "shell […]"}},
			{"decoders", "import os, base64, urllib.parse\nos.system(base64.b32decode('NFSA====').decode())\nos.system(urllib.parse.unquote('%69d'))\nos.system('i' + 'd' * 2)", []string{"shell [id] decoded", "shell [id] decoded", "shell [idd]"}},
			{"entries", "import os\nfor e in os.scandir('/srv'):\n  os.unlink(e.path)", []string{"delete {/srv/*}"}},
		},
		"ruby": {
			{"reads", `IO.read("a"); IO.read("|id")`, []string{"read [a]", "shell [id]"}},
			{"evals", `instance_eval("system('id')"); x.class_eval { y }; TCPServer.new(80); TCPServer.new("127.0.0.1", 81)`, []string{"shell [id]", "listen [:80]", "listen [127.0.0.1:81]"}},
			{"unpack", `system("aWQ=".unpack1("m"))`, []string{"shell [id] decoded"}},
			{"paths", `Pathname.new("a").delete; Pathname.new("b").write("x"); Pathname.new("c").children.each { |f| f.delete }`, []string{"delete [a]", "write [b]", "delete {c/*}"}},
		},
		"lua":  {{"files", `io.open("a", "w"); os.remove("b"); require("socket").tcp():connect("192.0.2.1", 80); os.rename("c", "d"); for l in io.lines("e") do end`, []string{"write [a]", "delete [b]", "socket", "network [192.0.2.1:80]", "rename [c] [d]", "read [e]"}}},
		"go":   {{"context", `exec.CommandContext(ctx, "rm", "x").Run(); os.RemoveAll("/srv")`, []string{"exec [rm] [x]", "delete [/srv] recursive"}}},
		"java": {{"sockets", `new Socket("192.0.2.1", 80); Runtime.getRuntime().exec("rm x").getOutputStream()`, []string{"network [192.0.2.1:80]", "exec [rm] [x]", "socket_shell"}}},
		"r":    {{"files", `cat("x", file = "a"); source("b.R"); file.remove(dir("/srv")); Sys.glob("~/*")`, []string{"write [a]", "read [b.R]", "dynamic", "delete {*}"}}},
		"powershell": {
			{"brackets", "if (rm x) {}", []string{"delete [x]"}},
			{"behind a bracket", "(1)rm x", []string{"delete [x]"}},
		},
		"awk": {{"format", `BEGIN { system(sprintf("%s x", "rm")); system(sprintf("%c%c", 105, 100)) }`, []string{"shell [rm x]", "shell [id]"}}},
	} {
		t.Run(lang, func(t *testing.T) { runCases(t, lang, cases) })
	}
}
