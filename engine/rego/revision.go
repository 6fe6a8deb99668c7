package rego

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// revisions names the content of each custom directory: equal revisions judge alike.
func (s *fileSet) revisions(dirs []string) map[string]string {
	revisions := make(map[string]string, len(dirs))
	for _, dir := range dirs {
		prefix := below(dir, "x")
		prefix = prefix[:len(prefix)-1]
		var lines []string
		for _, src := range s.sources {
			if src.custom && strings.HasPrefix(src.name, prefix) {
				sum := sha256.Sum256([]byte(src.text))
				lines = append(lines, strings.TrimPrefix(src.name, prefix)+" "+hex.EncodeToString(sum[:]))
			}
		}
		for _, d := range s.documents {
			if strings.HasPrefix(d.name, prefix) {
				lines = append(lines, strings.TrimPrefix(d.name, prefix)+" "+d.sum)
			}
		}
		slices.Sort(lines)
		sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
		revisions[dir] = hex.EncodeToString(sum[:16])
	}
	return revisions
}
