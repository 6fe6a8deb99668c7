# METADATA
# title: Service that others can reach
# description: Opens a port. Said and recorded; development servers do it all the time.
# custom:
#   severity: low
#   remediation: Bind to localhost, and stop the service when it is no longer needed.
#   examples:
#     - nc -l 9000
#     - python3 -m http.server 8080
#   lookalikes:
#     - nc -z localhost 9000
#     - python3 -m json.tool data.json
package sallyport.rules.network.listener

import data.sallyport.lib

warn contains {"command": i} if some i in lib.with_flag.listens
