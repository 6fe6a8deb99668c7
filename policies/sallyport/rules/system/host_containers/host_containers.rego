# METADATA
# title: Container that reaches out to the host
# description: A privileged container, or one with the host's root, system directories or engine socket mounted, is the host. One that shares a namespace of the host is asked about.
# custom:
#   severity: critical
#   remediation: Mount only directories of the workspace, and leave out --privileged.
#   examples:
#     - docker run --privileged alpine true
#     - docker run -v /:/host alpine chroot /host
#     - docker run --pid=host alpine ps
#   lookalikes:
#     - docker run --rm -v ./src:/src alpine ls /src
#     - docker compose up -d
#     - docker build .
package sallyport.rules.system.host_containers

import data.sallyport.lib

_host contains i if some i in lib.with_flag.privileged_container

_host contains i if some i in lib.with_flag.host_mount

deny contains {"command": i} if some i in _host

ask contains {"command": i} if {
	some i in lib.with_flag.host_namespace
	not i in _host
}
