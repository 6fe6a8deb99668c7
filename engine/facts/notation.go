package facts

import (
	"slices"
	"strings"
)

// ReadTouches reads what a file tool asks for in the notation of cases and of the examples of rules:
//
//	copy_file: read a.txt, write out/a.txt
//	delete_file: delete* build
//
// A star stands behind a recursive access. ok is false for any other text, a command above all.
func ReadTouches(text string) (tool string, touches []Touch, ok bool) {
	tool, list, ok := strings.Cut(text, ": ")
	if !ok || tool == "" || strings.Trim(tool, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "", nil, false
	}
	for one := range strings.SplitSeq(list, ", ") {
		access, p, _ := strings.Cut(one, " ")
		access, recursive := strings.CutSuffix(access, "*")
		if !slices.Contains(accessNames[:], access) {
			return "", nil, false
		}
		touches = append(touches, Touch{Path: p, Access: access, Recursive: recursive})
	}
	return tool, touches, true
}
