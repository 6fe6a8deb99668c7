# METADATA
# title: Network of the machine changed
# description: >-
#   Changes interfaces, routes, names or the radio of the machine. Others, and the agent itself, may lose
#   their connection or be led elsewhere. So are git's connections by a proxy, or by another host in place of
#   one, in its settings.
# custom:
#   severity: high
#   remediation: Leave the network to the operator; test in a network namespace or a container of your own.
#   examples:
#     - ip route del default
#     - ip link set eth0 down
#     - ip r d default
#     - ifconfig eth0 down
#     - nmcli networking off
#     - netplan apply
#     - resolvectl dns eth0 192.0.2.1
#     - tc qdisc add dev eth0 root netem loss 100%
#     - git config --global http.proxy http://proxy.example.com:8080
#     - git config url.https://mirror.example.com/.insteadOf https://github.com/
#   lookalikes:
#     - ip addr
#     - ip route show
#     - ip -j link show
#     - ifconfig eth0
#     - nmcli device status
#     - resolvectl query example.com
#     - route -n
#     - 'git config --global url.https://github.com/.insteadOf git@github.com:'
#     - git config --unset http.proxy
package sallyport.rules.system.network_settings

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.network_config
