package config

// Docker are the settings of the runners docker and docker-sudo.
type Docker struct {
	// Image to start. Default: the runtime image of this release.
	Image string `yaml:"image"`
	// Address of the daemon. Default: $DOCKER_HOST, or the daemon's default.
	Host string `yaml:"host"`
	// Memory limit, such as 2g. Default: none.
	Memory Size `yaml:"memory"`
	// Processors, such as 1.5. Default: no limit.
	CPUs float64 `yaml:"cpus"`
	// Network of the container.
	Network string `yaml:"network" jsonschema:"enum=none,enum=bridge,enum=host"`
	// never: an absent image is an error that says how to build it; missing: it is pulled.
	Pull string `yaml:"pull" jsonschema:"enum=never,enum=missing"`
	// User of commands in the container, in numbers: uid or uid:gid, and never root. Default: the owner of
	// the workspace.
	User string `yaml:"user"`
	// Processes and threads that may exist in the container at once. Some sixty are sallyport's own.
	PIDs int `yaml:"pids"`
	// Files that a process may have open at once.
	OpenFiles int `yaml:"open_files"`
	// Largest file that a process may write. Default: no limit.
	FileSize Size `yaml:"file_size"`
	// Size of /tmp, which lies in memory: at most a sixth of docker.memory.
	Tmp Size `yaml:"tmp"`
	// read-only: commands write to the granted places, their home, /tmp and places that the image leaves to
	// them; writable: anywhere that their user may. Default: read-only. Under docker-sudo it is writable.
	Root string `yaml:"root" jsonschema:"enum=read-only,enum=writable"`
	// Commands may use sockets of the file system. With them they reach every program of this machine that
	// listens in a granted place.
	UnixSockets bool `yaml:"unix_sockets"`
	// Runtime of the engine, such as runsc. Default: the engine's default.
	Runtime string `yaml:"runtime"`
	// The container stays when the session ends, for the next session of the same name.
	Keep bool `yaml:"keep"`
	// mount: the container gets sallyport-supervisor as a mount; copy: by way of a volume, for an engine on
	// another machine. Default: `copy` for remote engines, else `mount`.
	Deliver string `yaml:"deliver" jsonschema:"enum=mount,enum=copy"`
	// Parts of the operator's own identity that the container gets. An absent file is skipped, with a
	// warning.
	Credentials Credentials `yaml:"credentials"`
	// Packages to install when the container starts.
	Packages Packages `yaml:"packages"`
	// More mounts.
	Mounts []Mount `yaml:"mounts"`
}

// Credentials are the parts of the operator's identity that a container gets. Files are mounted read-only.
type Credentials struct {
	// Well-known files of the home directory: ~/.ssh, ~/.gitconfig, ~/.config/gh, ~/.npmrc, ~/.pypirc,
	// ~/.claude, ~/.codex and ~/.gemini.
	Mount []string `yaml:"mount" jsonschema:"enum=ssh_keys,enum=git_config,enum=gh_config,enum=npm_config,enum=pypi_config,enum=claude_config,enum=codex_config,enum=gemini_config"`
	// File of NAME=VALUE lines that commands get.
	EnvFile Path `yaml:"env_file"`
	// Names to take from env_file. Empty: all of them.
	EnvFileNames []string `yaml:"env_file_names"`
	// Names of variables of sallyport's own environment. They are stronger than env_file.
	Env []string `yaml:"env"`
	// All variables of sallyport's own environment, secrets included, except those that say where things are
	// on this machine: PATH, HOME, the name of a file.
	PassAll bool `yaml:"pass_all"`
}

// Packages are installed before a container starts: the system's, then Python's, then npm's. The container
// with them is kept as an image, so that the next session has them at once. Versions may be given as the
// tool takes them.
type Packages struct {
	// Debian packages, such as jq or jq=1.7.1-6; needs docker-sudo.
	System []string `yaml:"system"`
	// Python packages, as pip takes them: "requests>=2.31", or the absolute path of a wheel in the container.
	Python []string `yaml:"python"`
	// npm packages, installed globally: "typescript@5", or the absolute path of a tarball in the container.
	NPM []string `yaml:"npm"`
	// Network of the installation alone; same: that of the container.
	Network string `yaml:"network" jsonschema:"enum=same,enum=none,enum=bridge,enum=host"`
	// Effect of a failed installation: stop, or continue without these packages.
	OnFailure string `yaml:"on_failure" jsonschema:"enum=stop,enum=continue"`
}

// Mount is one more mount of a container.
type Mount struct {
	// File or directory of this machine.
	Source Path `yaml:"source" jsonschema:"required"`
	// Absolute path in the container. Default: the same as source.
	Target string `yaml:"target"`
	// read or write. Default: read.
	Access string `yaml:"access" jsonschema:"enum=read,enum=write"`
}
