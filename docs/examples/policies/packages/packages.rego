# METADATA
# title: Only packages from the list, at one version
# description: |
#   A package runs code on installation. The list names the packages that this team has read; each install
#   names one version of them. Programs that fetch a package to run it, such as npx, count.
# custom:
#   severity: high
#   remediation: Name a package of the list with its version, or ask for the package to be added.
#   examples:
#     - npm install left-pad
#     - npm i -D eslint@latest
#     - npx cowsay@1.6.0 hello
#     - pip install -i https://pypi.elsewhere.test/simple evil==1.0
#     - pip install git+https://git.elsewhere.test/evil
#     - pip install -r requirements.txt
#     - uvx ruff check
#     - go run elsewhere.test/tool@latest
#     - npm install $(cat list)
#   lookalikes:
#     - npm ci
#     - npx eslint@9.1.0 .
#     - pip install requests==2.32.3
#     - go run ./cmd/tool
#     - uv run pytest
package custom.packages.listed

import data.custom.packages_listed as lists

deny contains {"command": i, "msg": $"{p.manager} package {p.name} is not on the list"} if {
	some i, c in input.commands
	some p in c.packages
	p.certainty == "exact"
	p.name != ""
	not p.name in object.get(lists.packages, p.manager, [])
}

deny contains {"command": i, "msg": $"{p.name} without one version"} if {
	some i, c in input.commands
	some p in c.packages
	p.name in lists.packages[p.manager]
	not p.pinned
}

deny contains {"command": i, "msg": $"packages from {p.source}"} if {
	some i, c in input.commands
	some p in c.packages
	p.source != ""
}

deny contains {"command": i, "msg": "the package is not known"} if {
	some i, c in input.commands
	some p in c.packages
	p.certainty != "exact"
}
