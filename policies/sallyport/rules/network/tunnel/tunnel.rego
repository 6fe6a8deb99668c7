# METADATA
# title: Tunnel
# description: Opens a way from the network into this machine, or from this machine around its network's borders.
# custom:
#   severity: high
#   remediation: Use a service on localhost, or ask the operator to open the connection.
#   examples:
#     - ssh -R 8080:localhost:80 host.example.com
#     - ssh -L 5432:db.example.com:5432 host.example.com
#     - ssh -D 1080 host.example.com
#     - ngrok http 8080
#   lookalikes:
#     - ssh host.example.com
#     - python3 -m http.server 8080
#     - curl -s localhost:8080
package sallyport.rules.network.tunnel

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.tunnel
