# METADATA
# title: Packages from another source
# description: >-
#   A package manager is told to take packages from a place that is not one of the usual public ones, or to
#   skip the checks that would tell a wrong package. Whoever has that place runs code here with the next
#   installation.
# custom:
#   severity: high
#   remediation: Use the registry that is set up; ask the operator to set up another one.
#   examples:
#     - pip install --index-url https://pypi.example.com/simple requests
#     - npm config set registry https://npm.example.com
#     - GOPROXY=https://proxy.example.com go mod download
#     - GOSUMDB=off go get example.com/x
#     - dnf install https://example.com/x.rpm
#     - mise plugins install https://example.com/plugin.git
#     - apk add --allow-untrusted x.apk
#     - cp pip.conf ~/.config/pip/pip.conf
#   lookalikes:
#     - pip install requests
#     - pip install torch --index-url https://download.pytorch.org/whl/cpu
#     - pip install git+https://github.com/psf/requests
#     - npm install left-pad
#     - mise plugins install nodejs
#     - npm config get registry
#     - GOPROXY=direct go mod download
#     - cat ~/.config/pip/pip.conf
package sallyport.rules.system.package_sources

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.redirects_source

_changes contains i if {
	some i in lib.with_label.package_source
	p := input.paths[i]
	p.access == "write"
	not "metadata" in p.labels
	not lib.named.git[p.command]
}

# Settings for all projects; those of one project are part of its work.
ask contains {"path": i, "msg": $"{p.path} says where packages come from"} if {
	some i in _changes
	p := input.paths[i]
	p.zone != "workspace"
}

warn contains {"path": i, "msg": $"{p.path} says where packages come from"} if {
	some i in _changes
	p := input.paths[i]
	p.zone == "workspace"
}
