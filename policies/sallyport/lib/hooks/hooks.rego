# METADATA
# title: Shell code that tools print on purpose
# description: |
#   ssh-agent -s, conda shell.bash hook, kubectl completion bash and the like print code for a
#   shell to evaluate. That is how they are meant to be used.
package sallyport.lib.hooks

# Programs that print shell code on purpose, as documented by them.
_programs := {
	"asdf", "brew", "conda", "dircolors", "direnv", "docker-machine", "fnm", "gh", "gpg-agent", "helm",
	"jenv", "keychain", "kubectl", "luarocks", "mamba", "micromamba", "minikube", "mise", "nodenv",
	"opam", "pip", "pyenv", "rbenv", "register-python-argcomplete", "rustup", "ssh-agent", "starship",
	"zoxide",
}

# Whether all that command i takes in comes from such programs.
printed(i) if {
	inputs := input.commands[i].inputs
	count(inputs) > 0
	every j in inputs {
		_hook(input.commands[j])
	}
}

# By its plain name only: ./conda is anybody's program.
_hook(c) if {
	c.name in _programs
	c.program == c.name
}
