# METADATA
# title: Working directory that cannot be used
# description: >-
#   The working directory that a request names does not exist, is not a directory, cannot be read or lies
#   outside the granted places. No command brings this about, so there are no examples: the cases in
#   testdata/cases show it.
# custom:
#   severity: medium
#   remediation: Give a directory below the workspace that exists, or none.
#   examples: []
#   lookalikes:
#     - cd src 2>/dev/null; ls
#     - pwd
package sallyport.rules.paths.work_dir

import data.sallyport.lib

_messages := {
	"missing": "the working directory does not exist",
	"not_a_dir": "the working directory is not a directory",
	"unreadable": "the working directory cannot be read",
}

deny contains {"msg": object.get(_messages, input.request.work_dir_state, "the working directory cannot be used")} if {
	input.request.work_dir_state != "dir"
	not lib.started
}

deny contains {"msg": $"{input.request.work_dir} lies outside the granted places"} if {
	input.request.work_dir_state == "dir"
	not input.request.work_dir_allowed
	not lib.started
}
