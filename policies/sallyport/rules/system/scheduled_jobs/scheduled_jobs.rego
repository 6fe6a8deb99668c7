# METADATA
# title: Job that runs later
# description: Programs that cron, at or a timer starts later do not pass the gate.
# custom:
#   severity: high
#   remediation: Run the job now, or as a background process of this session.
#   examples:
#     - (crontab -l; echo "* * * * * id") | crontab -
#     - echo id | at now
#     - crontab -r
#     - echo x > /etc/cron.d/x
#   lookalikes:
#     - crontab -l
#     - atq
#     - cat /etc/crontab
package sallyport.rules.system.scheduled_jobs

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.cron_edit

deny contains {"path": i, "msg": $"{p.path} starts programs later"} if {
	some i in lib.with_label.cron
	p := input.paths[i]
	p.access in {"write", "delete"}
	not _edited(p)
}

_edited(p) if lib.with_flag.cron_edit[p.command]

ask contains {"command": i} if {
	some i in lib.with_flag.scheduled
	not lib.with_flag.cron_edit[i]
}
