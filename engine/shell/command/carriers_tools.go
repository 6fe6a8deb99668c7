package command

// packageRunners are tools of languages and environments that run a command of the caller's:
// those of package managers, version managers, task runners and clouds. The verbs follow
// their manuals (npm 10, pnpm 9, yarn 4, uv 0.8, pipx 1.7, poetry 2, bundler 2.6, conda 25,
// nix 2.28, mise 2025).
var packageRunners = map[string]Carrier{
	// JavaScript
	"npx": {short: "pc", long: []string{"--package", "--call", "--workspace"}, code: []string{"-c", "--call"}, versioned: true},
	"npm": {short: "pcwC", long: []string{"--package", "--call", "--workspace", "--prefix"}, verbs: []string{"exec", "x"}, code: []string{"-c", "--call"}, versioned: true},
	"pnpm": {short: "CF", long: []string{"--dir", "--filter", "--package", "--allow-build"}, verbs: []string{"dlx", "exec"}, versioned: true,
		others: "add a install i update up remove rm uninstall un link unlink import rebuild rb prune fetch patch audit list ls outdated why licenses run run-script start restart stop test t tst create c config get set init publish pack server store root bin env setup deploy dedupe doctor exec dlx cache self-update approve-builds help version login logout whoami info view search"},
	"yarn": {short: "p", long: []string{"--cwd", "--package"}, verbs: []string{"dlx", "exec"}, versioned: true,
		others: "add install remove up upgrade upgrade-interactive run test start stop restart build lint init create link unlink pack publish npm info why list outdated audit autoclean bin cache check config constraints dedupe explain generate-lock-entry global help import licenses login logout node owner patch patch-commit plugin policies rebuild search self-update set stage tag team unplug version versions whoami workspace workspaces dlx exec"},
	"bunx": {short: "p", long: []string{"--package"}, versioned: true}, "pnpx": {versioned: true},
	"cross-env": {assigns: true}, "cross-env-shell": {assigns: true, text: true}, "env-cmd": {short: "fer", long: []string{"--file", "--environments", "--rc-file"}},
	"sallyport": {short: "c", long: []string{"--config", "--runner", "--work-dir", "--timeout", "--session", "--agent", "--format", "--command"}, verbs: []string{"exec"}, code: []string{"-c", "--command"}},
	"dotenv":    {short: "efvpoc", long: []string{"--file", "--export"}, assigns: true, prefix: "run"}, "dotenvx": {short: "f", long: []string{"--env-file", "--env"}, verbs: []string{"run"}},
	"concurrently": {short: "cnplmr", long: []string{"--names", "--prefix", "--prefix-colors", "--kill-others-on-fail"}, each: true}, "wait-on": {}, "start-server-and-test": {each: true},
	"onchange": {short: "iedp"}, "volta": {verbs: []string{"run"}, long: []string{"--node", "--npm", "--yarn"}}, "fnm": {verbs: []string{"exec"}, long: []string{"--using"}}, "nvm": {verbs: []string{"exec"}, skip: 1}, "corepack": {versioned: true},

	// Python
	"uv":  {short: "pw", long: []string{"--python", "--with", "--with-requirements", "--with-editable", "--from", "--project", "--directory", "--env-file", "--extra", "--group", "--package", "--module"}, verbs: []string{"run", "tool run"}, script: "python"},
	"uvx": {short: "pw", long: []string{"--python", "--with", "--from"}, versioned: true}, "pipx": {long: []string{"--spec", "--python", "--pip-args", "--index-url"}, verbs: []string{"run"}, script: "python", versioned: true},
	"poetry": {short: "CP", long: []string{"--directory", "--project"}, verbs: []string{"run"}, script: "python"}, "pipenv": {verbs: []string{"run"}, script: "python"}, "pdm": {short: "p", long: []string{"--project"}, verbs: []string{"run"}, script: "python"},
	"hatch": {short: "e", long: []string{"--env"}, verbs: []string{"run"}}, "rye": {verbs: []string{"run"}}, "tox": {short: "ec", verbs: []string{"exec"}}, "pixi": {short: "e", long: []string{"--environment", "--manifest-path"}, verbs: []string{"run", "exec"}},
	"conda": condaRun, "mamba": condaRun, "micromamba": condaRun,

	// Ruby, Haskell, OCaml, Rust, Nix
	"bundle": {verbs: []string{"exec"}, long: []string{"--gemfile"}}, "bundler": {verbs: []string{"exec"}}, "foreman": {short: "efp", verbs: []string{"run"}}, "rbenv": {verbs: []string{"exec"}}, "pyenv": {verbs: []string{"exec"}}, "asdf": {verbs: []string{"exec"}},
	"cabal": {short: "w", long: []string{"--with-compiler", "--project-file"}, verbs: []string{"exec"}}, "stack": {long: []string{"--resolver", "--stack-yaml"}, verbs: []string{"exec"}}, "dune": {long: []string{"--root", "--profile"}, verbs: []string{"exec"}}, "opam": {long: []string{"--switch"}, verbs: []string{"exec"}},
	"rustup": {verbs: []string{"run"}, skip: 1}, "cargo": {short: "xscw", long: []string{"--exec", "--shell"}, verbs: []string{"watch"}, code: []string{"-s", "--shell"}},
	"nix": {verbs: []string{"develop", "shell", "run"}, after: []string{"-c", "--command", "--"}}, "guix": {verbs: []string{"shell", "environment"}, after: []string{"--"}},

	// environments, secrets
	"mise": miseExec, "rtx": miseExec, "direnv": {verbs: []string{"exec"}, skip: 1}, "doppler": {short: "pc", long: []string{"--project", "--config", "--command"}, verbs: []string{"run"}, code: []string{"--command"}}, "op": {long: []string{"--env-file", "--account"}, verbs: []string{"run"}},
	"aws-vault": {short: "dn", long: []string{"--duration"}, verbs: []string{"exec"}, skip: 1}, "chamber": {verbs: []string{"exec"}, after: []string{"--"}}, "sops": {verbs: []string{"exec-env", "exec-file"}, skip: 1, text: true}, "infisical": {long: []string{"--env", "--path", "--command"}, verbs: []string{"run"}, code: []string{"--command"}},
	"heroku": {short: "a", long: []string{"--app"}, verbs: []string{"run", "local:run", "run:detached"}, text: true, away: true}, "meson": {short: "C", verbs: []string{"devenv"}}, "xcrun": {long: []string{"--sdk", "--toolchain"}},

	// other machines and systems
	"gcloud":   {long: []string{"--command", "--zone", "--project"}, verbs: []string{"compute ssh"}, after: []string{"--"}, away: true},
	"minikube": {short: "pn", verbs: []string{"ssh"}, text: true, away: true}, "multipass": {verbs: []string{"exec"}, skip: 1, away: true}, "limactl": {long: []string{"--workdir"}, verbs: []string{"shell"}, skip: 1, away: true}, "lima": {away: true}, "colima": {short: "p", verbs: []string{"ssh"}, away: true},
	"adb": {short: "s", verbs: []string{"shell"}, text: true, away: true}, "wsl": {short: "de", long: []string{"--distribution", "--user", "--cd"}, code: []string{"-e"}, away: true}, "distrobox": {short: "n", verbs: []string{"enter"}, after: []string{"--"}}, "toolbox": {short: "c", long: []string{"--container"}, verbs: []string{"run"}},
	"distrobox-enter": {short: "n", after: []string{"--"}}, "flatpak-spawn": {elevated: true}, "flatpak": {verbs: []string{"run"}, long: []string{"--branch", "--arch"}, skip: 1}, "salt": {skip: 2, text: true, away: true},
	"pdsh": {short: "wxlf", text: true, away: true}, "pssh": {short: "hHltopeO", text: true, away: true}, "parallel-ssh": {short: "hHltopeO", text: true, away: true}, "clush": {short: "wgxlf", text: true, away: true}, "dsh": {short: "mgF", text: true, away: true},

	// small wrappers
	"ssh-agent": {short: "aEtP"}, "setarch": {skip: 1}, "linux32": {}, "linux64": {}, "i386": {}, "x86_64": {}, "runcon": {short: "turlc", long: []string{"--type", "--user", "--role", "--range"}}, "eatmydata": {}, "ccache": {}, "sccache": {}, "distcc": {}, "aa-exec": {short: "pn", long: []string{"--profile", "--namespace"}},
	"dtach": {short: "nAcNper"}, "abduco": {short: "encAp"}, "systemd-nspawn": {short: "DiMEu", long: []string{"--directory", "--machine", "--user", "--bind", "--setenv"}, elevated: true, away: true}, "cgexec": {short: "g"}, "systemd-cat": {short: "tp", long: []string{"--identifier", "--priority"}},
	"logsave": {skip: 1}, "sem": {short: "j", long: []string{"--id", "--jobs"}, text: true}, "rlwrap": {short: "abcDefFHiIlmMnNoOpPqsStwz"}, "heaptrack": {short: "o"}, "ifne": {}, "zrun": {}, "nocache": {}, "trickle": {short: "duwtlN"}, "tsocks": {}, "pee": {each: true}, "mispipe": {each: true}, "gnome-terminal": {after: []string{"--"}}, "kitty": {short: "cdTo"},
	"setuidgid": {skip: 1, elevated: true}, "softlimit": {short: "mdslarfcopt"}, "chpst": {short: "uUbedolmnfpcr/"}, "envdir": {skip: 1}, "envuidgid": {skip: 1, elevated: true}, "s6-setuidgid": {skip: 1, elevated: true}, "s6-envdir": {skip: 1}, "with-contenv": {}, "tini": {short: "pe"}, "dumb-init": {short: "r"}, "catatonit": {},
	"xdotool": {verbs: []string{"exec"}}, "xterm": terminal, "uxterm": terminal, "urxvt": terminal, "rxvt": terminal, "konsole": terminal, "alacritty": terminal, "foot": {}, "st": terminal, "xfce4-terminal": terminal, "terminator": terminal,
}

var (
	condaRun = Carrier{short: "np", long: []string{"--name", "--prefix", "--cwd"}, verbs: []string{"run"}}
	miseExec = Carrier{short: "cC", long: []string{"--command", "--cd"}, verbs: []string{"exec", "x"}, code: []string{"-c", "--command"}, after: []string{"--"}}
	terminal = Carrier{after: []string{"-e", "-x"}}
)

// CarrierOf finds the carrier of that name.
func CarrierOf(name string) (Carrier, bool) {
	if c, ok := carriers[name]; ok {
		return c, true
	}
	c, ok := packageRunners[name]
	return c, ok
}

// Wraps reports a name that stands for an interpreter, or for a carrier that is no tool of a language.
func Wraps(name string) bool {
	_, carries := carriers[name]
	_, interprets := InterpreterOf(name)
	return carries || interprets
}
