# METADATA
# title: System packages removed
# description: Other programs of the machine may need them.
# custom:
#   severity: medium
#   remediation: Leave system packages installed; use a virtual environment or a container for a clean state.
#   examples:
#     - apt-get remove -y python3
#     - yum erase httpd
#     - pacman -Rns base-devel
#   lookalikes:
#     - pip uninstall -y requests
#     - npm uninstall lodash
#     - apt-get install -y jq
package sallyport.rules.system.package_remove

import data.sallyport.lib

# Managers of a project's own packages: they remove files of the workspace or the user's own.
_project := {
	"bun", "bundle", "cargo", "composer", "conda", "dart", "deno", "gem", "go", "mamba", "micromamba", "npm",
	"pip", "pip3", "pipenv", "pipx", "pnpm", "poetry", "python", "python3", "uv", "yarn",
}

ask contains {"command": i} if {
	some i in lib.with_flag.package_remove
	not input.commands[i].name in _project
}
