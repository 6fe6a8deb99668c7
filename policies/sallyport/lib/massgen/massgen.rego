# METADATA
# title: The order of MassGen's nine patterns
package sallyport.lib.massgen

# The pattern that is reported: the first that matches, in the predecessor's order. Where elevated
# commands stay inside the environment, the four about rights and owners do not count.
first := [pattern | some pattern in input.shell.legacy; _counts(pattern)][0]

_counts(pattern) if not pattern in {"sudo", "su", "chown", "chmod"}

_counts(_) if not input.runner.elevated
