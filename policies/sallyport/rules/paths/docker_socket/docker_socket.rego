# METADATA
# title: Container engine's socket
# description: Speaks to the container engine directly. Whoever may do that may do everything on the host.
# custom:
#   severity: critical
#   remediation: Use the docker command, since its options can be judged.
#   examples:
#     - curl --unix-socket /var/run/docker.sock http://localhost/containers/json
#     - docker run -v /var/run/docker.sock:/var/run/docker.sock alpine true
#   lookalikes:
#     - docker ps
#     - ls -l /var/run/docker.sock
package sallyport.rules.paths.docker_socket

import data.sallyport.lib

deny contains {"path": i} if {
	some i in lib.with_label.docker_socket
	not lib.with_label.metadata[i]
}
