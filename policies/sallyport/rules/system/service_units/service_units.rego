# METADATA
# title: Write to a service unit
# description: The service manager starts programs named there, outside the gate and often as root.
# custom:
#   severity: high
#   remediation: Start the program as a background process of your own.
#   examples:
#     - cp app.service /etc/systemd/system/app.service
#     - echo x > ~/.config/systemd/user/x.service
#   lookalikes:
#     - cat /etc/systemd/system/app.service
#     - echo x > app.service
#     - systemctl status app
package sallyport.rules.system.service_units

import data.sallyport.lib

deny contains {"path": i, "msg": $"{p.path} is started by the service manager"} if {
	some i in lib.with_label.service_unit
	p := input.paths[i]
	p.access in {"write", "delete"}
}
