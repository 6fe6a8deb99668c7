package disk

import (
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Within reports whether p is dir or lies below it. Both are absolute and clean.
func Within(p, dir string) bool {
	if dir == "" || !strings.HasPrefix(p, dir) {
		return false
	}
	return len(p) == len(dir) || p[len(dir)] == '/' || dir[len(dir)-1] == '/'
}

// Below reports whether p lies strictly below dir.
func Below(p, dir string) bool { return len(p) > len(dir) && Within(p, dir) }

// Parent splits an absolute clean path; base is "" for a root.
func Parent(p string) (dir, base string) {
	i := strings.LastIndexByte(p, '/')
	if i < 0 || i == len(p)-1 {
		return p, ""
	}
	if i == 0 || i == 2 && p[1] == ':' {
		return p[:i+1], p[i+1:]
	}
	return p[:i], p[i+1:]
}

// Absolute joins a word with the directory in which it is looked up, not cleaned; "" when that is not known.
func Absolute(text string, dir shell.Dir) string {
	text = strings.ReplaceAll(text, "//", "/")
	switch {
	case IsAbs(text):
		return text
	case strings.HasPrefix(text, "~"):
		return userHome(text)
	case !dir.Known || dir.Path == "":
		return ""
	default:
		return Join(dir.Path, text)
	}
}

// userHome takes the ~name that the shell walk leaves as it is for the usual home of that user.
func userHome(text string) string {
	name, rest, _ := strings.Cut(text[1:], "/")
	switch name {
	case "", "+", "-":
		return ""
	case "root":
		return Join("/root", rest)
	default:
		return Join("/home/"+name, rest)
	}
}

// Enter changes a directory as -C DIR does.
func Enter(dir shell.Dir, w value.Word) shell.Dir {
	if w.Certainty != value.Exact {
		return shell.Dir{}
	}
	abs := Absolute(w.Text, dir)
	if abs == "" {
		return shell.Dir{}
	}
	return shell.Dir{Path: Clean(abs), Known: true}
}

// Join puts two pieces of a path together without cleaning them.
func Join(dir, name string) string {
	if name == "" {
		return dir
	}
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// volume returns the root of an absolute path: "/" or "C:/".
func volume(p string) string {
	if len(p) >= 3 && p[1] == ':' && p[2] == '/' {
		return p[:3]
	}
	return "/"
}

// Clean is path.Clean for absolute paths, which does not climb out of a drive.
func Clean(abs string) string {
	root := volume(abs)
	return root + strings.TrimPrefix(path.Clean("/"+strings.TrimPrefix(abs, root)), "/")
}

// IsAbs reports whether a path is absolute here or on Windows.
func IsAbs(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) >= 3 && p[1] == ':' && p[2] == '/' && IsLetter(p[0])
}

// IsLetter reports an ASCII letter.
func IsLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// SplitGlob cuts an absolute path at the first name with a glob character.
func SplitGlob(abs string) (dir, rest string) {
	i := strings.IndexAny(abs, "*?[")
	if i < 0 {
		return abs, ""
	}
	cutAt := strings.LastIndexByte(abs[:i], '/')
	dir = abs[:cutAt]
	if dir == "" || dir[len(dir)-1] == ':' {
		dir += "/"
	}
	return dir, abs[cutAt+1:]
}

// IsEverything reports whether a name pattern stands for all entries, or all hidden ones.
func IsEverything(name string) bool {
	switch name {
	case "*", "**", ".*", "?*", "*.*", ".[!.]*", ".[^.]*", ".??*", "..?*":
		return true
	}
	return false
}

// Relative names a file for the reader: relative to the path, or by its own name when it is the path.
func Relative(root, p string) string {
	if rest := strings.TrimPrefix(p[min(len(root), len(p)):], "/"); Within(p, root) && rest != "" {
		return rest
	}
	return path.Base(p)
}

// MatchName matches a name with a pattern of the shell.
func MatchName(pattern, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), name)
	return ok || err != nil // a pattern that cannot be read may match everything
}
