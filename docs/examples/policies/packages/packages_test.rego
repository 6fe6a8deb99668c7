package custom.packages.listed_test

import data.custom.packages.listed as rule
import data.sallyport.testing

_package(fields) := testing.command({"packages": [object.union(
	{"manager": "npm", "name": "eslint", "version": "9.1.0", "source": "", "pinned": true, "certainty": "exact"},
	fields,
)]})

test_listed if rule.deny == set() with input as _package({})

test_not_listed if count(rule.deny) == 1 with input as _package({"name": "evil"})

test_another_manager if count(rule.deny) == 1 with input as _package({"manager": "gem"})

test_range if count(rule.deny) == 1 with input as _package({"pinned": false})

test_source if count(rule.deny) == 1 with input as _package({"name": "", "source": "./lib"})

test_unknown if count(rule.deny) == 1 with input as _package({"name": "", "certainty": "partial"})

test_none if rule.deny == set() with input as testing.command({"packages": []})
