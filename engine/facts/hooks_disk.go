package facts

import (
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// shred: with a device it is a disk write; with -u the file goes.
func shred(c *call) {
	remove := c.effects&doesDelete != 0 && c.cmd.Name != "shred" || c.has("u", "remove")
	c.effects &^= doesDelete
	c.each(writes, func(t *touch) {
		if remove {
			t.access |= deletes
		}
		t.access &^= reads
	})
	if remove {
		c.effects |= doesDelete
	}
	c.deviceWrites()
}

// deviceWrites adds disk_write when a command of this kind writes to a disk by its name.
func (c *call) deviceWrites() {
	c.each(writes|deletes, func(t *touch) {
		if isDisk(t.word) {
			c.flags.add(flagDiskWrite)
		}
	})
}

// isDisk reports whether a word is the well-known name of a block device.
func isDisk(w value.Word) bool {
	text := w.Text
	if !strings.HasPrefix(text, "/dev/") {
		return false
	}
	var labels bitset
	atlases().labels(&labels, path.Clean(text), "")
	return labels.has(labelDiskDevice)
}

// dd: key=value operands.
func dd(c *call) {
	for _, w := range c.operands {
		key, _, ok := strings.Cut(w.Text, "=")
		if !ok {
			continue
		}
		value := cut(w, len(key)+1)
		switch key {
		case "if":
			c.path(value, reads)
		case "of":
			c.path(value, writes)
			if isDisk(value) {
				c.flags.add(flagDiskWrite)
			}
		}
	}
}

// ddTarget: programs whose second operand is what they write.
func ddTarget(c *call) { c.deviceWrites() }

// partition: listing is not writing. Without a device the program picks its own.
func partition(c *call) {
	if c.has("l", "list", "p", "print", "v", "verify", "V", "i", "info", "dump", "J", "json") || c.operand(1) == "print" || c.cmd.Name == "partprobe" || c.cmd.Name == "partx" {
		c.effects &^= doesWrite
		c.each(writes, func(t *touch) { t.access = reads; t.role.metadata = true })
		c.effects |= doesRead
		return
	}
	c.flags.add(flagDiskWrite)
	for _, w := range c.operands {
		if w.Text == "mklabel" || w.Text == "mktable" || w.Text == "mkpart" || w.Text == "rm" {
			c.flags.add(flagFormatsDisk)
		}
	}
}

// diskutil names disks without /dev/.
func diskutil(c *call) {
	if len(c.operands) == 0 || !c.flags.has(flagDiskWrite) {
		return
	}
	last := c.operands[len(c.operands)-1]
	if !strings.Contains(last.Text, "/") && last.Certainty == value.Exact {
		c.path(exact("/dev/"+last.Text), writes)
		return
	}
	c.path(last, writes)
}

// fsckLooks: -n answers every question with no, and -l of tune2fs lists.
func fsckLooks(c *call) {
	if !c.has("n") && !(c.cmd.Name == "tune2fs" && c.has("l")) || c.has("w") {
		return
	}
	c.effects = doesRead
	c.each(writes, func(t *touch) { t.access, t.role.metadata = reads, true })
}

// mdadmLooks are the options that only describe an array.
func mdadmLooks(c *call) {
	if c.has("D", "detail", "Q", "query", "E", "examine", "X", "examine-bitmap", "detail-platform") && !c.flags.has(flagDiskWrite) {
		c.effects = doesRead
		c.each(writes, func(t *touch) { t.access = reads; t.role.metadata = true })
	}
}
