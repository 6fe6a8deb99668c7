package sallyport.rules.system.package_remove_test

import data.sallyport.rules.system.package_remove as rule
import data.sallyport.testing

_remove(name) := testing.command({"name": name, "flags": ["package_remove"]})

test_asks_for_system_packages if {
	rule.ask == {{"command": 0}} with input as _remove("apt-get")
}

test_allows_project_packages if {
	every name in [
		"bun", "bundle", "cargo", "composer", "conda", "dart", "deno", "gem", "go", "mamba", "micromamba",
		"npm", "pip", "pip3", "pipenv", "pipx", "pnpm", "poetry", "python", "python3", "uv", "yarn",
	] {
		rule.ask == set() with input as _remove(name)
	}
}

test_allows_installing if {
	rule.ask == set() with input as testing.command({"name": "apt-get", "flags": ["package_install"]})
}
