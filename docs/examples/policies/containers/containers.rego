# METADATA
# title: Package managers run in containers
# description: |
#   What a package brings runs when it is installed. It does so in a container, or not at all.
# custom:
#   severity: high
#   remediation: "Run it in a container: docker run --rm -v \"$PWD\":/work -w /work IMAGE npm ci"
#   examples:
#     - npm ci
#     - pip install -r requirements.txt
#     - sudo apt-get install -y jq
#   lookalikes:
#     - docker run --rm -v "$PWD":/work -w /work node npm ci
#     - npm test
#     - pip list
package custom.packages.containers

import data.sallyport.lib

deny contains {"command": i} if {
	some i in lib.with_flag.package_install
	input.runner.isolation != "container"
	not _in_container(input.commands[i])
}

_in_container(c) if {
	some carrier in c.via
	carrier in {"docker run", "docker exec", "podman run", "podman exec"}
}
