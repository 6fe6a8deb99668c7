# METADATA
# title: Fork bomb
# description: A function, script or program that starts itself again and again until the machine stops answering.
# custom:
#   severity: critical
#   remediation: Give the recursion an end, and do not start copies of itself in the background.
#   examples:
#     - ":() { :|:& };:"
#     - f(){ f|f& };f
#   lookalikes:
#     - fact() { [ "$1" -le 1 ] && echo 1 || fact $(($1 - 1)); }; fact 3
#     - echo ':(){ :|:& };:'
package sallyport.rules.dangerous.fork_bomb

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.fork_bomb
