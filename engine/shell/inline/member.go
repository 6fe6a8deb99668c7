package inline

import "strings"

// member is v.name.
func (s *scan) member(v value, name string) value {
	switch {
	case v.kind == object:
		full := s.canonical(v.name + "." + name)
		if c, ok := s.g.constants[full]; ok {
			return c
		}
		return objectValue(full)
	case v.kind == text && v.name == pathName && name == "path": // of an entry of os.scandir
		return v
	case v.kind == text && v.name == pathName:
		return objectValue(pathName + "." + name)
	case v.kind == text, v.kind == list, v.kind == word:
		return objectValue("text." + name)
	default:
		return objectValue("?." + name)
	}
}

// index is v[…].
func (s *scan) index(v value, open int) value {
	args := s.arguments(open)
	if len(args) != 1 {
		return value{}
	}
	key := args[0].v
	if v.kind == list {
		if n, ok := key.number(); ok && !v.open {
			if n < 0 {
				n += len(v.list)
			}
			if n >= 0 && n < len(v.list) {
				return v.list[n]
			}
		}
		return value{}
	}
	if v.kind == object {
		if k, ok := key.exact(); ok && key.kind == text {
			return s.memberByKey(v, k)
		}
		if s.g.modules[v.name] {
			return objectValue("?[]")
		}
	}
	return value{}
}

// memberByKey is module["name"] and its kin.
func (s *scan) memberByKey(v value, key string) value {
	switch {
	case key == "HOME" && environments[v.name]:
		return textValue(home)
	case environments[v.name]:
		return value{}
	case strings.HasPrefix(v.name, "globals()"), strings.HasPrefix(v.name, "locals()"), v.name == "vars()":
		return s.lookup(key, 0)
	}
	name := strings.TrimSuffix(v.name, ".__dict__")
	return objectValue(s.canonical(name + "." + key))
}

// environments are the objects that hold the variables of the process.
var environments = map[string]bool{"os.environ": true, "ENVIRON": true}

// canonical spells a qualified name in the way in which the tables know it.
func (s *scan) canonical(name string) string {
	if s.g.canonical != nil {
		return s.g.canonical(name)
	}
	return name
}
