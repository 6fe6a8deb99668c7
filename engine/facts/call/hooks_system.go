package call

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// journal: reading it is not removing it. An address of D-Bus may be a program to start.
func journal(c *Call) {
	for _, w := range c.Cmd.Words {
		if strings.Contains(w.Text, "unixexec:") {
			c.escapes()
		}
	}
	if c.Effects&term.Delete != 0 {
		c.path(Exact("/var/log/journal"), term.Deletes)
	}
}

// dateSet: an operand without a plus is the time to set.
func dateSet(c *Call) {
	if t := c.operand(0); len(t) >= 8 && strings.Trim(t, "0123456789.") == "" {
		c.Flags.Add(term.FlagClock)
		c.Effects |= term.System
	}
}

// shred: with a device it is a disk write; with -u the file goes.
func shred(c *Call) {
	remove := c.Effects&term.Delete != 0 && c.Cmd.Name != "shred" || c.Has("u", "remove")
	c.Effects &^= term.Delete
	c.each(term.Writes, func(t *Touch) {
		if remove {
			t.Access |= term.Deletes
		}
		t.Access &^= term.Reads
	})
	if remove {
		c.Effects |= term.Delete
	}
	c.deviceWrites()
}

// deviceWrites adds disk_write when a command of this kind writes to a disk by its name.
func (c *Call) deviceWrites() {
	c.each(term.Writes|term.Deletes, func(t *Touch) {
		if isDisk(t.Word) {
			c.Flags.Add(term.FlagDiskWrite)
		}
	})
}

// isDisk reports whether a word is the well-known name of a block device.
func isDisk(w value.Word) bool {
	text := w.Text
	if !strings.HasPrefix(text, "/dev/") {
		return false
	}
	var labels term.Set
	places.Atlases().Labels(&labels, path.Clean(text), "")
	return labels.Has(term.LabelDiskDevice)
}

// dd: key=value operands.
func dd(c *Call) {
	for _, w := range c.Operands {
		key, _, ok := strings.Cut(w.Text, "=")
		if !ok {
			continue
		}
		value := Cut(w, len(key)+1)
		switch key {
		case "if":
			c.path(value, term.Reads)
		case "of":
			c.path(value, term.Writes)
			if isDisk(value) {
				c.Flags.Add(term.FlagDiskWrite)
			}
		}
	}
}

// ddTarget: programs whose second operand is what they write.
func ddTarget(c *Call) { c.deviceWrites() }

// diskutil names disks without /dev/.
func diskutil(c *Call) {
	if len(c.Operands) == 0 || !c.Flags.Has(term.FlagDiskWrite) {
		return
	}
	last := c.Operands[len(c.Operands)-1]
	if !strings.Contains(last.Text, "/") && last.Certainty == value.Exact {
		c.path(Exact("/dev/"+last.Text), term.Writes)
		return
	}
	c.path(last, term.Writes)
}

// busWords: an address may be a program to start.
func busWords(c *Call) {
	journal(c)
	busCall(c)
}

// busCall reads the words of busctl, gdbus, dbus-send, qdbus: names with dots, of which the last part of one
// is the method, or a method of its own.
func busCall(c *Call) {
	words := Texts(c.Cmd.Words[1:])
	calls := strings.HasPrefix(c.Cmd.Name, "qdbus") || c.Cmd.Name == "dbus-send"
	for _, verb := range []string{"call", "set-property", "emit"} {
		calls = calls || slices.Contains(words, verb)
	}
	if !calls || slices.Contains(words, "--type=signal") {
		return
	}
	at := strings.Join(words, " ")
	for _, row := range commands.BusCalls() {
		fields := strings.Fields(row)
		methods := strings.Join(fields[2:], " ")
		if fields[1] != "*" && !strings.Contains(at, fields[1]) ||
			!slices.ContainsFunc(words, func(word string) bool { return isMethod(word, methods) }) {
			continue
		}
		if i := slices.Index(term.FlagNames, fields[0]); i >= 0 {
			c.Flags.Add(term.Flag(i))
			c.Effects |= term.System
		}
		return
	}
}

// isMethod: of "org.freedesktop.login1.Manager.Reboot" the last part counts. A property that is set has the
// method Set.
func isMethod(word, methods string) bool {
	if strings.ContainsAny(word, "/=:-") {
		return false
	}
	word = word[strings.LastIndexByte(word, '.')+1:]
	if word == "property" || methods == "" {
		return true
	}
	return slices.ContainsFunc(strings.Fields(methods), func(m string) bool { return strings.HasPrefix(word, m) })
}

// abbreviating are those whose words may be given shorter: "ip r d default", "nmcli c m x".
var abbreviating = map[string][]string{
	"ip":    {"show", "list", "lst", "get", "monitor", "save", "showdump", "help"},
	"nmcli": {"show", "status", "list", "monitor", "permissions", "help", "hostname", "export"},
}

// networkConfig marks commands that change the interfaces, routes, names or radio of the machine.
func networkConfig(c *Call) {
	name := strings.ToLower(c.Cmd.Name)
	changes := strings.Fields(strings.Join(commands.NetworkChanges()[name], " "))
	given := 0
	if len(c.Operands) > 2 && slices.Contains(changes, c.operand(0)+"+") {
		c.Flags.Add(term.FlagNetworkConfig)
		c.Effects |= term.System
	}
	for _, w := range c.Cmd.Words[1:] {
		if !IsOption(w) {
			given++
		}
		if given > 1 && slices.Contains(changes, "**") || !IsOption(w) && slices.Contains(changes, "*") ||
			slices.ContainsFunc(changes, func(change string) bool { return c.changesBy(w.Text, change, given) }) {
			c.Flags.Add(term.FlagNetworkConfig)
			c.Effects |= term.System
			return
		}
	}
}

// changesBy compares a word with one that changes. The first word of a tool that knows abbreviations is its
// object: "ip a" shows addresses.
func (c *Call) changesBy(word, change string, given int) bool {
	if option, _, _ := strings.Cut(word, "="); option == change || change[0] == '-' && len(change) > 2 && c.Cmd.Name == "networksetup" && strings.HasPrefix(word, change) {
		return true
	}
	looks, short := abbreviating[c.Cmd.Name]
	if !short || given < 2 || given > 3 || word == "" || !strings.HasPrefix(change, word) {
		return false
	}
	if given == 3 && c.Cmd.Name == "ip" {
		return false // a value
	}
	if strings.HasPrefix(c.operand(0), "l") && c.Cmd.Name == "ip" && word[0] == 's' && len(c.Operands) > 3 {
		return true // ip l s eth0 down
	}
	return !slices.ContainsFunc(looks, func(look string) bool { return strings.HasPrefix(look, word) })
}
