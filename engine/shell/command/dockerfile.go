package command

import (
	"slices"
	"strings"
)

// containerfile is the file of a program that builds an image. Its commands run in a container that has no
// more of the host than the build's options give it.
var containerfile = BuildFile{
	Names:   []string{"Dockerfile", "Containerfile", ".dockerfile"},
	Recipes: containerfileRuns,
	tasks: func(content string, s Start) (t tasks) {
		for _, text := range containerfileRuns(content, s.texts()) {
			t.add(text)
		}
		return t
	},
}

// containerfileRuns is a build as the commands that fetch its images and files, and the runs of containers
// that get more of the host than others.
func containerfileRuns(content string, args []string) (out []string) {
	if !slices.ContainsFunc(args, func(a string) bool { return a == "build" || a == "bud" }) {
		return nil
	}
	stages := map[string]bool{"scratch": true}
	for line := range strings.Lines(strings.ReplaceAll(content, "\\\n", " ")) {
		words := strings.Fields(line)
		var options, rest []string
		for len(words) > 1 && strings.HasPrefix(words[1], "--") {
			options, words = append(options, words[1]), slices.Delete(words, 1, 2)
		}
		if len(words) < 2 || strings.ContainsAny(line, "'\"`$;&|<>()") && !strings.EqualFold(words[0], "RUN") {
			continue
		}
		switch rest = words[1:]; strings.ToUpper(words[0]) {
		case "FROM":
			if !stages[rest[0]] {
				out = append(out, "docker pull "+rest[0])
			}
			if len(rest) > 2 {
				stages[rest[2]] = true
			}
		case "ADD":
			if strings.Contains(rest[0], "://") {
				out = append(out, "curl "+rest[0])
			}
		case "RUN":
			if slices.Contains(options, "--security=insecure") {
				out = append(out, "docker run --privileged image")
			}
			if slices.Contains(options, "--network=host") {
				out = append(out, "docker run --network=host image")
			}
		}
	}
	return out
}
