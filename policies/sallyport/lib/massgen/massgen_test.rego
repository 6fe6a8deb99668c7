package sallyport.lib.massgen_test

import data.sallyport.lib.massgen

test_reports_the_first_only if {
	massgen.first == "rm_rf_root" with input as {"shell": {"legacy": ["rm_rf_root", "sudo"]}, "runner": {"elevated": false}}
}

test_rights_do_not_count_where_they_stay_inside if {
	massgen.first == "dd" with input as {"shell": {"legacy": ["sudo", "dd", "chmod"]}, "runner": {"elevated": true}}
	not massgen.first with input as {"shell": {"legacy": ["sudo", "su", "chown", "chmod"]}, "runner": {"elevated": true}}
}

test_rights_count_elsewhere if {
	every pattern in ["sudo", "su", "chown", "chmod"] {
		massgen.first == pattern with input as {"shell": {"legacy": [pattern]}, "runner": {"elevated": false}}
	}
}

test_nothing_matches if {
	not massgen.first with input as {"shell": {"legacy": []}, "runner": {"elevated": false}}
}
