package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// metadata is a rule package's description of itself.
type metadata struct {
	title, description    string
	severity, remediation string
	trial                 bool   // its questions are about missing knowledge, which a trial can give
	profile               string // under which the examples are meant; "" for standard
	examples, lookalikes  []string
	config                map[string]any // the operator's settings for the examples
}

var severities = compiled.Severities

// checkMetadata gives each rule its metadata, read when it is first asked for: parsing YAML for
// every rule would take as long as all the rest of the start. Only custom rules, which no test
// of this repository has seen, are read at once, unless they were before.
func (s *fileSet) checkMetadata(rules []*rule, atOnce bool) {
	for _, r := range rules {
		r.about = sync.OnceValues(r.readMetadata)
		if atOnce && r.custom() {
			_, problems := r.about()
			s.problems = append(s.problems, problems...)
		}
	}
}

// readMetadata parses the package's annotations and checks them. Missing parts stay empty.
func (r *rule) readMetadata() (metadata, []Problem) {
	s := &fileSet{}
	var found *ast.Annotations
	for _, src := range r.sources {
		options := ast.ParserOptions{Capabilities: capabilities(), RegoVersion: ast.RegoV1, ProcessAnnotation: true}
		module, err := ast.ParseModuleWithOpts(src.name, src.text, options)
		if err != nil {
			s.failed(src.name, err)
			continue
		}
		for _, a := range module.Annotations {
			if a.Scope != "package" {
				continue
			}
			if found != nil {
				s.at(a.Location, "package %s has METADATA in two places", packageName(r.pkg)).as("metadata")
			}
			found = a
		}
	}
	if found == nil {
		if len(s.problems) == 0 {
			s.at(r.sources[0].module.Package.Location, "package %s has no METADATA", packageName(r.pkg)).
				as("metadata").suggest("give it a title, and below custom a severity and a remediation")
		}
		return metadata{}, s.problems
	}
	return s.metadata(found), s.problems
}

func (s *fileSet) metadata(a *ast.Annotations) metadata {
	m := metadata{title: a.Title, description: a.Description}
	if m.title == "" {
		s.at(a.Location, "METADATA has no title").as("metadata").suggest("write # title: … above the package line")
	}
	s.annotationKeys(a)
	texts := map[string]*string{"severity": &m.severity, "remediation": &m.remediation, "profile": &m.profile}
	lists := map[string]*[]string{"examples": &m.examples, "lookalikes": &m.lookalikes}
	keys := slices.Concat(slices.Collect(maps.Keys(texts)), slices.Collect(maps.Keys(lists)))
	known := append(keys, "config", "trial")
	for _, key := range slices.Sorted(maps.Keys(a.Custom)) {
		value := a.Custom[key]
		var ok bool
		switch {
		case texts[key] != nil:
			*texts[key], ok = value.(string)
		case lists[key] != nil:
			*lists[key], ok = stringsOf(value)
		case key == "config":
			m.config = s.config(a, value)
			continue
		case key == "trial":
			if m.trial, ok = value.(bool); !ok {
				const problem = "METADATA has a custom.trial that is not true or false"
				s.at(keyLocation(a, key), problem).as("metadata")
			}
			continue
		default: // a team's own keys are its own business
			if near := nearest(key, known); near != "" {
				s.at(keyLocation(a, key), "METADATA has an unknown key custom.%s",
					key).as("metadata").suggest("did you mean %s?", near)
			}
			continue
		}
		if !ok {
			s.at(keyLocation(a, key), "METADATA has a custom.%s that is not %s", key,
				map[bool]string{true: "a text", false: "a list of texts"}[texts[key] != nil]).as("metadata")
		}
	}
	if m.remediation == "" {
		s.at(a.Location, "METADATA has no custom.remediation").as("metadata").suggest(
			"name the allowed way to the same goal")
	}
	if !slices.Contains(severities, m.severity) {
		p := s.at(keyLocation(a, "severity"), "METADATA has no sound custom.severity: it is %q, not one of %s",
			m.severity, strings.Join(severities, ", ")).as("metadata")
		if near := nearest(m.severity, severities); near != "" {
			p.suggest("did you mean %q?", near)
		}
	}
	return m
}

// annotations are the keys that OPA knows of METADATA.
var annotations = []string{
	"authors", "compile", "custom", "description", "entrypoint", "labels", "organizations", "related_resources",
	"schemas", "scope", "title",
}

// annotationKeys finds keys of METADATA that OPA does not know. It passes over them without a word.
func (s *fileSet) annotationKeys(a *ast.Annotations) {
	_, text, _ := strings.Cut(string(a.Location.Text), "\n") // behind the line # METADATA
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(line), "#")
	}
	var document yaml.Node
	if yaml.Unmarshal([]byte(strings.Join(lines, "\n")), &document) != nil || len(document.Content) == 0 {
		return // OPA has read it
	}
	keys := document.Content[0].Content
	for i := 0; i+1 < len(keys); i += 2 {
		key := keys[i].Value
		if slices.Contains(annotations, key) {
			continue
		}
		at := *a.Location
		at.Row += keys[i].Line
		p := s.at(&at, "METADATA has an unknown key %s", key).as("metadata")
		if near := nearest(key, annotations); near != "" {
			p.suggest("did you mean %s?", near)
		} else {
			p.suggest("keys that are not OPA's stand below custom")
		}
	}
}

// keyLocation is the line of METADATA that begins with a key, or where METADATA begins.
func keyLocation(a *ast.Annotations, key string) *ast.Location {
	at := *a.Location
	for i, line := range strings.Split(string(at.Text), "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, "# \t"), key+":") {
			at.Row += i
			return &at
		}
	}
	return &at
}

// settings are the keys of custom.config: parts of the operator's configuration, and files.
var settings = []string{"commands", "committed", "files", "paths", "rules"}

// config checks the form of custom.config. The test of the examples checks the content of its parts.
func (s *fileSet) config(a *ast.Annotations, value any) map[string]any {
	config, ok := value.(map[string]any)
	if !ok {
		s.at(keyLocation(a, "config"), "METADATA has a custom.config that is not keys and values").as("metadata")
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if !slices.Contains(settings, key) {
			s.at(keyLocation(a, "config"), "METADATA has an unknown key custom.config.%s",
				key).as("metadata").suggest("it is not one of %s", strings.Join(settings, ", "))
		}
	}
	return config
}

func stringsOf(v any) ([]string, bool) {
	values, ok := v.([]any)
	texts := make([]string, len(values))
	for i, value := range values {
		text, isText := value.(string)
		texts[i], ok = text, ok && isText
	}
	return texts, ok
}

// metadata returns the rule's description of itself, or its problems as an error.
func (r *rule) metadata() (metadata, error) {
	m, problems := r.about()
	if len(problems) > 0 {
		return metadata{}, fmt.Errorf("read metadata of rule %s: %w", r.id, &LoadError{problems})
	}
	return m, nil
}

// CheckCustomID reports the problem with the id of a custom rule, such as custom/git/no_push: it must be a
// package and a name in Rego.
func CheckCustomID(id string) error {
	parts := strings.Split(id, "/")
	if parts[0] != "custom" {
		hint := "custom/" + strings.TrimPrefix(id, "/")
		if nearest(parts[0], []string{"custom"}) != "" {
			hint = "custom/" + strings.Join(parts[1:], "/")
		}
		hint = strings.ReplaceAll(strings.ToLower(hint), "-", "_")
		if CheckCustomID(hint) != nil {
			hint = "custom/CATEGORY/NAME"
		}
		return fmt.Errorf("rule id %q: rules of your own are below custom: did you mean %q?", id, hint)
	}
	if len(parts) < 3 {
		return fmt.Errorf("rule id %q: want custom/CATEGORY/NAME", id)
	}
	for _, part := range parts[1:] {
		switch {
		case slices.Contains(ast.KeywordsForRegoVersion(ast.RegoV1), part):
			return fmt.Errorf("rule id %q: %s is a keyword of Rego: choose another name", id, part)
		case !identifier.MatchString(part):
			return fmt.Errorf("rule id %q: %q: rule names use lower-case letters, digits and _, as in "+
				"no_push", id, part)
		case strings.HasSuffix(part, "_test"):
			return fmt.Errorf("rule id %q: %s would be taken for a test: choose a name that does not end "+
				"in _test", id, part)
		}
	}
	return nil
}

var identifier = lazyregexp.New(`^[a-z][a-z0-9_]*$`)
