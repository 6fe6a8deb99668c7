# METADATA
# title: Text too large to analyse
# description: >-
#   Reading stops after a fixed number of steps. The rest was not read, so the whole text is refused: padding
#   must not be a way past the gate.
# custom:
#   severity: high
#   remediation: Split the work into several smaller commands.
#   examples:
#     - echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo x))))))))))))))
#   lookalikes:
#     - for i in 1 2 3; do echo "$i"; done
#     - bash -c 'bash -c "echo two deep"'
package sallyport.rules.shell.budget

deny contains {"msg": $"not all of the text was looked through: the limit of {input.shell.budget} was reached"} if {
	input.shell.budget != ""
}
