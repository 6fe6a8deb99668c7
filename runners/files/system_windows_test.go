package files

// sameWords reports whether the system words its errors as the tests do.
func sameWords() bool { return false }
