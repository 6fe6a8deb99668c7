package filetools

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"
)

// headBytes is how much of a file tells whether it is text.
const headBytes = 8 << 10

// binary looks at the first bytes of a file and names its kind, or "" for text. Text in another encoding than
// UTF-8 counts as text as long as no byte of it is zero.
func binary(head []byte) string {
	switch {
	case len(head) == 0:
		return ""
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "UTF-16 text"
	}
	zero := bytes.IndexByte(head, 0) >= 0
	if !zero && validHead(head) && !manyControls(head) {
		return "" // "BM" at the start of a sentence makes no bitmap of it
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	switch {
	case kind == "application/octet-stream" || zero && strings.HasPrefix(kind, "text/"):
		return "binary data"
	case strings.HasPrefix(kind, "text/"):
		return ""
	}
	return kind
}

// validHead reports whether bytes are UTF-8, of which the last character may be cut.
func validHead(head []byte) bool {
	for cut := range min(utf8.UTFMax, len(head)) {
		if utf8.Valid(head[:len(head)-cut]) {
			return true
		}
	}
	return false
}

// manyControls reports whether text has more control characters than a log with colours has.
func manyControls(head []byte) bool {
	n := 0
	for _, b := range head {
		if b < ' ' && !bytes.ContainsRune([]byte("\t\n\v\f\r\b\x1b"), rune(b)) {
			n++
		}
	}
	return n*10 > len(head)
}
