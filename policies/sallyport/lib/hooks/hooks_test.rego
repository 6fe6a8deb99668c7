package sallyport.lib.hooks_test

import data.sallyport.lib.hooks
import data.sallyport.testing

_eval(inputs, program) := testing.request(
	[{"inputs": inputs}, {"name": "conda", "program": program}, {"name": "cat", "program": "cat"}],
	[],
)

test_printed_by_each_program if {
	every name in [
		"asdf", "brew", "conda", "dircolors", "direnv", "docker-machine", "fnm", "gh", "gpg-agent", "helm",
		"jenv", "keychain", "kubectl", "luarocks", "mamba", "micromamba", "minikube", "mise", "nodenv",
		"opam", "pip", "pyenv", "rbenv", "register-python-argcomplete", "rustup", "ssh-agent", "starship",
		"zoxide",
	] {
		hooks.printed(0) with input as testing.request([{"inputs": [1]}, {"name": name, "program": name}], [])
	}
}

test_printed_for_shells if {
	hooks.printed(0) with input as _eval([1], "conda")
}

test_not_by_a_program_that_borrows_the_name if {
	not hooks.printed(0) with input as _eval([1], "./conda")
}

test_not_together_with_others if {
	not hooks.printed(0) with input as _eval([1, 2], "conda")
}

test_not_without_inputs if {
	not hooks.printed(0) with input as _eval([], "conda")
}
