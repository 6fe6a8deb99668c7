package inline

import "strings"

// pythonCalls is what functions of the standard library, and of a few libraries that
// everybody uses, do to the machine. A name that begins with "*." is a member of a value that
// is not known; only names that mean nothing else stand there.
func pythonCalls() map[string]handler {
	m := map[string]handler{
		"os.system": shellText, "os.popen": shellText, "os.popen2": shellText, "os.popen3": shellText, "os.popen4": shellText,
		"popen2.popen2": shellText, "platform.popen": shellText, "commands.getoutput": shellText, "commands.getstatusoutput": shellText,
		"subprocess.getoutput": shellText, "subprocess.getstatusoutput": shellText, "asyncio.create_subprocess_shell": shellText,
		"pexpect.spawn": shellText, "pexpect.run": shellText, "pexpect.spawnu": shellText, "*.system": someText, "*.popen": someText, "*.exec_command": someText,
		"asyncio.create_subprocess_exec": argv,
		"os.execl":                       program, "os.execlp": program, "os.execle": program, "os.execlpe": program,
		"os.execv": programList(0), "os.execvp": programList(0), "os.execve": programList(0), "os.execvpe": programList(0),
		"os.posix_spawn": programList(0), "os.posix_spawnp": programList(0),
		"os.spawnv": programList(1), "os.spawnvp": programList(1), "os.spawnve": programList(1), "os.spawnvpe": programList(1),
		"os.spawnl": spawnl, "os.spawnlp": spawnl, "os.spawnle": spawnl, "os.spawnlpe": spawnl,
		"os.startfile": argv, "runpy.run_path": pythonScript, "runpy.run_module": dynamic,
		"pty.spawn": programOrArgv, "code.interact": plain(Spawn), "pdb.set_trace": plain(Spawn),

		"os.remove": touch(Delete, "path"), "os.unlink": touch(Delete, "path"), "os.rmdir": touch(Delete, "path"),
		"os.removedirs": touch(Delete, "name"), "shutil.rmtree": tree(Delete, "path"), "distutils.dir_util.remove_tree": tree(Delete, "directory"),
		"send2trash.send2trash": touch(Delete, "paths"), "os.truncate": touch(Write, "path"),
		"os.rename": move, "os.renames": move, "os.replace": move, "shutil.move": move,
		"shutil.copy": copied(false), "shutil.copy2": copied(false), "shutil.copyfile": copied(false), "shutil.copytree": copied(true),
		"shutil.copymode": nil, "shutil.copystat": nil, "shutil.unpack_archive": unpack, "shutil.make_archive": nil,
		"os.chmod": mode(0, 1, false), "os.lchmod": mode(0, 1, false),
		"os.chown": touch(Chown, "path"), "os.lchown": touch(Chown, "path"), "shutil.chown": touch(Chown, "path"),
		"os.symlink": linked, "os.link": linked, "os.mkdir": touch(Mkdir, "path"), "os.makedirs": touch(Mkdir, "name"),
		"os.mknod": touch(Write, "path"), "os.mkfifo": touch(Write, "path"), "os.utime": touch(Write, "path"), "os.chdir": chdir,
		"os.listdir": nil, "os.open": osOpen,
		"open": opens(0, 1, "r"), "io.open": opens(0, 1, "r"), "codecs.open": opens(0, 1, "r"), "file": opens(0, 1, "r"),
		"gzip.open": opens(0, 1, "r"), "bz2.open": opens(0, 1, "r"), "lzma.open": opens(0, 1, "r"), "tarfile.open": opens(0, 1, "r"),
		"tarfile.TarFile": opens(0, 1, "r"), "zipfile.ZipFile": opens(0, 1, "r"), "aiofiles.open": opens(0, 1, "r"),
		"shelve.open": touch(Write, "filename"), "sqlite3.connect": touch(Write, "database"), "io.FileIO": opens(0, 1, "r"),
		"fileinput.input": fileInput, "linecache.getline": touch(Read), "linecache.getlines": touch(Read),
		"zipfile.ZipFile().extractall": unpackSelf, "tarfile.open().extractall": unpackSelf,
		"pathlib.Path().unlink": self(Delete, false), "pathlib.Path().rmdir": self(Delete, false), "pathlib.Path().rmtree": self(Delete, true),
		"pathlib.Path().write_text": self(Write, false), "pathlib.Path().write_bytes": self(Write, false), "pathlib.Path().touch": self(Write, false),
		"pathlib.Path().read_text": self(Read, false), "pathlib.Path().read_bytes": self(Read, false), "pathlib.Path().mkdir": self(Mkdir, false),
		"pathlib.Path().chmod": mode(-1, 0, false), "pathlib.Path().lchmod": mode(-1, 0, false), "pathlib.Path().rename": selfMove,
		"pathlib.Path().replace": selfMove, "pathlib.Path().symlink_to": selfLink, "pathlib.Path().hardlink_to": selfLink,
		"pathlib.Path().open": opensSelf, "*.write_text": selfUnknown(Write), "*.write_bytes": selfUnknown(Write),
		"*.read_text": nil, "*.unlink": selfUnknown(Delete), "*.rmtree": selfUnknown(Delete),
		"pandas.read_csv": touch(Read), "pandas.read_json": touch(Read), "pandas.read_parquet": touch(Read), "pandas.read_excel": touch(Read),
		"numpy.load": decodesWhere("allow_pickle", true), "numpy.loadtxt": touch(Read), "numpy.save": touch(Write), "numpy.savez": touch(Write), "numpy.savetxt": touch(Write),
		"torch.load": decodesWhere("weights_only", false), "torch.save": touchAt(Write, 1), "PIL.Image.open": touch(Read), "matplotlib.pyplot.savefig": touch(Write),
		"*.to_csv": namedFile, "*.to_json": namedFile, "*.to_excel": namedFile, "*.to_parquet": namedFile, "*.savefig": namedFile,

		"os.fork": forks, "os.forkpty": forks, "pty.fork": forks, "multiprocessing.Process": forksInLoop,
		"os.kill": signal, "os.killpg": signal, "signal.pidfd_send_signal": signal,
		"os.dup2": duplicates, "os.environ": nil,

		"socket.socket": rawSocket, "socket.create_connection": hostPort(Network, 0, -1), "socket.create_server": hostPort(Listen, 0, -1),
		"socket.socket().connect":    socketAddress(Network),
		"socket.socket().connect_ex": socketAddress(Network),
		"socket.socket().bind":       socketAddress(Listen),
		"*.connect":                  connectPair(Network), "*.connect_ex": connectPair(Network),
		"*.bind": connectPair(Listen), "*.recv": receives, "*.recvfrom": receives, "asyncio.open_connection": hostPort(Network, 0, 1),
		"asyncio.open_unix_connection": touch(Read, "path"),

		"socketserver.TCPServer": hostPort(Listen, 0, -1), "http.server.HTTPServer": hostPort(Listen, 0, -1), "asyncio.start_server": hostPort(Listen, 1, 2),
		"paramiko.SSHClient().connect": hostPort(Network, 0, 1), "ftplib.FTP": hostPort(Network, 0, -1), "smtplib.SMTP": hostPort(Upload, 0, 1),
		"smtplib.SMTP_SSL": hostPort(Upload, 0, 1), "telnetlib.Telnet": hostPort(Network, 0, 1), "http.client.HTTPConnection": hostPort(Network, 0, 1),
		"http.client.HTTPSConnection": hostPort(Network, 0, 1), "ssl.wrap_socket": nil,
		"urllib.request.urlretrieve": download(0, 1, "filename"), "urllib.urlretrieve": download(0, 1, "filename"), "wget.download": download(0, 1, "out"),
		"urllib.request.urlopen": sends(true, 0, "url"), "urllib2.urlopen": sends(true, 0, "url"), "urllib.urlopen": sends(true, 0, "url"),
		"urllib.request.Request": sends(true, 0, "url"), "urllib2.Request": sends(true, 0, "url"),

		"exec": runs(0), "eval": runs(0), "execfile": pythonFile, "compile": compileText, "__import__": imports, "importlib.import_module": nil,
		"getattr": getattr, "marshal.loads": dynamic, "types.FunctionType": dynamic,
		"types.CodeType": dynamic, "*.__subclasses__": dynamic, "input": nil, "timeit.timeit": runs(0, "stmt"),
		"yaml.unsafe_load": decodes, "yaml.unsafe_load_all": decodes, "jsonpickle.decode": decodes, "marshal.load": decodes,
		"joblib.load": decodesFile, "pandas.read_pickle": decodesFile, "ctypes.CDLL": decodesFile, "ctypes.PyDLL": decodesFile,
		"ctypes.cdll.LoadLibrary": decodesFile,
		"os.environ.items":        plain(Env), "os.environ.keys": nil, "os.environ.values": plain(Env), "os.environb": nil, "dict": environment, "print": environment, "str": environment,
		"repr": environment, "json.dumps": environment, "pprint.pprint": environment, "pprint": environment,
	}
	for _, f := range strings.Fields("run call check_call check_output Popen") {
		m["subprocess."+f] = pythonSubprocess
	}
	for _, lib := range strings.Fields("pickle cPickle _pickle dill cloudpickle") {
		m[lib+".load"], m[lib+".loads"], m[lib+".Unpickler"] = decodes, decodes, decodes
	}
	m["subprocess32.Popen"] = pythonSubprocess
	for _, lib := range strings.Fields("requests httpx requests.Session() requests.session() httpx.Client() httpx.AsyncClient() aiohttp.ClientSession()") {
		for _, verb := range strings.Fields("get head options stream delete") {
			m[lib+"."+verb] = sends(false, 0, "url")
		}
		for _, verb := range strings.Fields("post put patch") {
			m[lib+"."+verb] = sends(true, 0, "url")
		}
		m[lib+".request"] = sends(false, 1, "url")
	}
	for _, lib := range strings.Fields("ctypes.CDLL() ctypes.cdll.LoadLibrary()") {
		m[lib+".system"], m[lib+".popen"] = shellText, shellText
		for _, f := range strings.Fields("execl execlp execle execv execvp execve posix_spawn posix_spawnp") {
			m[lib+"."+f] = m["os."+f]
		}
	}
	for name, h := range m {
		if h == nil { // named so that "*" entries do not apply
			m[name] = func(*call) {}
		}
	}
	return m
}
