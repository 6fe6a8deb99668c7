package inline

// luaQuotes are the characters that open a literal in Lua.
const luaQuotes = "\"'["

// plainNames are the names of interpreters and languages, and the plain language that they stand for.
var plainNames = map[string]string{
	"node": "node", "nodejs": "node", "javascript": "node", "js": "node", "typescript": "node", "ts": "node", "deno": "node", "bun": "node", "tsx": "node", "ts-node": "node", "jrunscript": "node", "jjs": "node",
	"perl": "perl", "ruby": "ruby", "jruby": "ruby", "irb": "ruby", "php": "php", "lua": "lua", "luajit": "lua", "texlua": "lua", "nvim-lua": "lua", "r": "r", "rscript": "r",
	"c": "native", "c++": "native", "cpp": "native", "cc": "native", "go": "native", "golang": "native", "java": "native", "jshell": "native", "groovy": "native", "kotlin": "native", "rust": "native", "tcc": "native",
}

// plainLanguages are their tables. The names follow the documentation of Node 22, Deno 2, Perl 5.40, Ruby 3.4, PHP 8.4,
// Lua 5.4, R 4.5, Go 1.24, Java 24 and Rust 1.86.
var plainLanguages = map[string]plainSource{
	"node": {lexicon{shape: shape{ident: "$", quote: "\"'`", value: "$"}, mentions: true, env: "process.env", indirect: "]"}, `
shell (child_process) *.exec *.execSync *.execaCommand
shell (shelljs) *.exec
shell exec *.execSync Bun.$
argv (child_process) *.spawn *.spawnSync *.execFile *.execFileSync *.fork
argv execa *.spawnSync *.execFileSync Bun.spawn Bun.spawnSync Deno.Command Deno.run
argv ProcessBuilder
argv (Runtime) ).exec
code eval Function vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script process.binding process.dlopen import Java.type
code require module.require mainModule.require process.getBuiltinModule
delete (fs) *.unlink *.rmdir *.rm *.remove *.emptyDir
delete *.unlinkSync *.rmSync *.rmdirSync *.removeSync *.emptyDirSync Deno.remove Deno.removeSync
tree rimraf rimraf.sync del del.sync deleteAsync deleteSync shelljs.rm
write (fs) *.writeFile *.truncate *.outputFile *.writeJson *.utimes *.createWriteStream
write *.writeFileSync *.truncateSync *.outputFileSync *.writeJsonSync Bun.write Deno.writeTextFile Deno.writeFile Deno.writeTextFileSync
copy (fs) *.copyFile *.copyFileSync *.cp *.cpSync *.copySync
append (fs) *.appendFile *.appendFileSync
read (fs) *.readFile *.readFileSync *.createReadStream
read Bun.file Deno.readTextFile Deno.readFile
rename (fs) *.rename *.renameSync *.move *.moveSync
chmod (fs) *.chmod *.chmodSync *.lchmod *.lchmodSync Deno.chmod
chown (fs) *.chown *.chownSync *.lchown
link (fs) *.symlink *.symlinkSync *.link *.linkSync Deno.symlink
mkdir (fs) *.mkdir *.mkdirSync *.ensureDir *.ensureDirSync Deno.mkdir
signal process.kill Deno.kill
network fetch axios got axios.get http.get https.get WebSocket
upload axios.post axios.put axios.patch http.request https.request
socket (net) *.connect *.createConnection *.createServer
socket net.Socket tls.connect dgram.createSocket Deno.connect Bun.connect Socket
listen *.listen
wire (net) *.pipe *.getInputStream *.getOutputStream
wire (Socket) *.getInputStream *.getOutputStream
env Deno.env.toObject
`},
	"perl": {lexicon{shape: shape{quote: "\"'", value: "$@"}, loose: true, backticks: true, env: "%ENV", indirect: "&$}"}, `
shell system exec readpipe qx CORE.system CORE.exec GLOBAL.system
shell 2 open2
shell 3 open3
code eval do syscall
open open IO.File.new File.new
delete unlink rmdir POSIX.unlink
tree rmtree remove_tree Path.rmtree Path.remove_tree
write truncate
write 1 sysopen
copy copy cp Copy.copy
rename rename move mv Copy.move
chmod chmod
chown chown
link symlink link
mkdir mkdir mkpath make_path
fork fork
signal 1 kill
socket socket INET.new IP.new SSL.new
wire dup2 POSIX.dup2
network getstore getprint Simple.get Simple.getstore
`},
	"ruby": {lexicon{shape: shape{quote: "\"'", value: "#"}, loose: true, backticks: true}, `
shell system exec spawn Process.spawn Process.exec Kernel.system Kernel.exec Kernel.spawn IO.popen PTY.spawn PTY.getpty
shell Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen2 Open3.popen2e Open3.popen3 Open3.pipeline
code eval *.instance_eval *.class_eval *.module_eval *.send *.public_send *.__send__ *.method *.const_get syscall load IRB.start
open open File.open File.new IO.read IO.readlines URI.open Kernel.open
delete File.delete File.unlink Dir.rmdir Dir.delete Dir.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove FileUtils.safe_unlink
hidden (Pathname) ).delete ).unlink ).write *.rmtree
tree rm_rf rm_r rmtree remove_dir remove_entry remove_entry_secure
tree FileUtils.rm_rf FileUtils.rm_r FileUtils.rmtree FileUtils.remove_dir FileUtils.remove_entry FileUtils.remove_entry_secure
write File.write IO.write File.binwrite IO.binwrite File.truncate FileUtils.touch
copy FileUtils.cp FileUtils.copy FileUtils.cp_r FileUtils.install
read File.read File.readlines File.binread File.foreach
rename File.rename FileUtils.mv FileUtils.move
chmod File.chmod FileUtils.chmod FileUtils.chmod_R
chown File.chown FileUtils.chown FileUtils.chown_R
link File.symlink File.link FileUtils.ln FileUtils.ln_s FileUtils.ln_sf
mkdir Dir.mkdir FileUtils.mkdir FileUtils.mkdir_p FileUtils.makedirs
fork fork Process.fork
signal 1 Process.kill
socket TCPSocket.new TCPSocket.open UDPSocket.new Socket.tcp Socket.new
listen TCPServer.new TCPServer.open Socket.tcp_server_loop
wire *.reopen
network HTTP.get HTTP.get_response HTTParty.get
upload HTTP.post HTTP.post_form HTTParty.post
env ENV.to_h ENV.to_hash ENV.inspect ENV.each
`},
	"php": {lexicon{shape: shape{quote: "\"'", value: "${"}, backticks: true, mentions: true, folds: true, env: "$_ENV", indirect: "$])"}, `
shell system exec shell_exec passthru popen proc_open expect_popen
argv pcntl_exec
code eval assert create_function call_user_func call_user_func_array array_map array_walk usort include require include_once require_once dl
delete unlink rmdir
open fopen
write file_put_contents touch
copy copy
read file_get_contents file readfile highlight_file show_source
rename rename move_uploaded_file
chmod chmod
chown chown chgrp
link symlink link
mkdir mkdir
fork pcntl_fork
signal posix_kill
socket fsockopen pfsockopen stream_socket_client socket_create socket_connect
listen stream_socket_server
network curl_init
upload mail
`},
	"lua": {lexicon{shape: shape{quote: luaQuotes}, mentions: true, indirect: "]"}, `
shell os.execute io.popen fn.system vim.system
code load loadstring dofile loadfile package.loadlib vim.cmd
open io.open
delete os.remove lfs.rmdir fn.delete posix.unlink
write io.output
read io.lines io.input
rename os.rename
mkdir lfs.mkdir
fork posix.fork
argv posix.exec unistd.exec
socket socket.tcp socket.udp *.connect
wire *.receive
network http.request https.request
`},
	"r": {lexicon{shape: shape{ident: ".", quote: "\"'"}, mentions: true}, `
shell system shell pipe base.system shell.exec
argv system2 processx.run
code eval parse source sys.source dyn.load do.call
delete unlink file.remove
write file.create sink saveRDS dir.create
write 1 write writeLines write.csv saveRDS download.file
copy file.copy
rename file.rename
chmod Sys.chmod
socket socketConnection
fork mcfork
signal pskill
`},
	"native": {lexicon{shape: shape{quote: "\"`"}}, `
shell system popen std.system wordexp WinExec
program execl execlp execle execv execvp execve execvpe syscall.Exec unix.Exec syscall.ForkExec os.StartProcess
argv exec.Command posix_spawn posix_spawnp
argv 1 exec.CommandContext
argv ).exec ProcessBuilder Command.new
hidden ".execute ].execute
delete unlink rmdir remove os.Remove Files.delete Files.deleteIfExists fs.remove_file fs.remove_dir syscall.Unlink
delete 1 unlinkat
tree os.RemoveAll FileUtils.deleteDirectory fs.remove_dir_all
open fopen
write truncate os.WriteFile ioutil.WriteFile os.Create Files.write Files.writeString FileWriter FileOutputStream fs.write
read os.ReadFile ioutil.ReadFile os.Open Files.readString Files.readAllBytes
rename rename os.Rename
chmod chmod os.Chmod
link symlink os.Symlink os.Link
mkdir os.Mkdir os.MkdirAll
fork fork vfork
signal kill syscall.Kill
socket socket syscall.Socket Socket net.DialTimeout tls.Dial TcpStream.connect
network 1 net.Dial
network http.Get
listen ServerSocket TcpListener.bind
wire dup2 syscall.Dup2 syscall.Dup3 unix.Dup2 *.getOutputStream *.getInputStream
`},
}
