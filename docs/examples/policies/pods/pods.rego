# METADATA
# title: The pod is not one of ours
# description: |
#   Commands of the runners on the list run in pods whose runtime class, image and memory are on
#   the list. No command brings this about: see the cases.
# custom:
#   severity: high
#   remediation: Ask the operator to correct the pod's configuration, or to add its image to the list.
#   examples: []
#   lookalikes:
#     - ls
package custom.system.pods

import data.custom.pods as ours

deny contains {"msg": msg} if {
	input.runner.name in ours.runners
	some msg in _problems
}

_place := input.runner.place

_problems contains "the pod was not looked up" if not _place.seen

_problems contains $"the runtime class is \"{_place.runtime}\"" if not _place.runtime in ours.runtimes

_problems contains $"image {_place.image} has a digest that is not on the list" if not _place.digest in ours.digests

_problems contains "the limit of memory is too high, or there is none" if not _bounded

_bounded if {
	_place.memory > 0
	_place.memory <= ours.memory
}
