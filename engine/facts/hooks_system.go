package facts

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// shutdownNot: shutdown -c cancels one, --help explains it.
func shutdownNot(c *call) {
	if c.cmd.Name == "shutdown" && c.has("c") || c.has("help") {
		c.flags.remove(flagShutdown)
	}
}

func initLevel(c *call) {
	switch c.operand(0) {
	case "0", "1", "6", "s", "S":
		c.flags.add(flagShutdown)
	}
}

// serviceName: stopping what protects or records is more than service control.
func serviceName(c *call) {
	switch c.sub[len(c.sub)-1] {
	case "stop", "disable", "mask", "kill":
		c.stopsSecurity(c.operands)
	}
}

// serviceStatus: "service NAME status" only looks.
func serviceStatus(c *call) {
	words := c.operands
	if len(words) == 0 && c.has("status-all") {
		c.flags.remove(flagServiceControl)
		c.effects = c.effects&^doesSystem | doesRead
	}
	for i, w := range words {
		switch w.Text {
		case "status", "--status-all", "list", "print", "blame", "show", "summary":
			if i == 1 || len(words) == 1 || i == 0 {
				c.flags.remove(flagServiceControl)
				c.effects = c.effects&^doesSystem | doesRead
				return
			}
		case "stop", "unload", "bootout", "disable", "remove", "off", "down":
			c.stopsSecurity(words)
		}
	}
}

// guards are services that protect or record.
var guards = []string{"sallyport", "auditd", "apparmor", "firewalld", "ufw", "iptables", "nftables", "fail2ban", "rsyslog", "syslog", "falcon-sensor", "clamav", "selinux", "ossec", "wazuh", "crowdsec", "osquery", "falco", "systemd-journald", "mdatp", "aide", "tripwire", "cbdaemon", "sysmon"}

func (c *call) stopsSecurity(words []value.Word) {
	for _, w := range words {
		for _, g := range guards {
			if strings.HasPrefix(strings.TrimSuffix(w.Text, ".service"), g) {
				c.flags.add(flagDisablesSecurity)
			}
		}
	}
}

// journal: reading it is not removing it. An address of D-Bus may be a program to start.
func journal(c *call) {
	for _, w := range c.cmd.Words {
		if strings.Contains(w.Text, "unixexec:") {
			c.escapes()
		}
	}
	if c.effects&doesDelete != 0 {
		c.path(exact("/var/log/journal"), deletes)
		return
	}
	if c.cmd.Name == "machinectl" || c.cmd.Name == "systemd-nspawn" {
		c.effects |= doesSystem | doesExecute
	}
}

// crontab: -l lists; -r removes all; a file or "-" replaces it.
func crontab(c *call) {
	if c.has("l") && !c.has("r", "e") && len(c.operands) == 0 {
		c.flags.remove(flagCronEdit)
		c.effects = doesRead
		return
	}
	if c.has("r") {
		c.effects |= doesDelete
	}
}

// sysctl NAME=VALUE writes, with or without -w.
func sysctl(c *call) {
	for _, w := range c.operands {
		if strings.Contains(w.Text, "=") {
			c.flags.add(flagKernel)
			c.effects |= doesSystem
		}
	}
}

func auditctl(c *call) {
	if c.has("l", "s") && !c.has("D", "e", "d") {
		c.flags.remove(flagDisablesSecurity)
		c.effects = doesRead
	}
}

// clockShow: without an argument the clock is only shown.
func clockShow(c *call) {
	switch c.operand(0) {
	case "", "status", "show", "list-timezones", "timesync-status", "show-timesync", "tracking", "sources":
		if !c.has("w", "systohc", "s", "hctosys", "set") {
			c.flags.remove(flagClock)
			c.effects = doesRead
		}
	}
}

// dateSet: an operand without a plus is the time to set.
func dateSet(c *call) {
	if t := c.operand(0); len(t) >= 8 && strings.Trim(t, "0123456789.") == "" {
		c.flags.add(flagClock)
		c.effects |= doesSystem
	}
}

// mountLists: mount without a place to mount at lists what is mounted.
func mountLists(c *call) {
	if len(c.operands) == 0 && !c.has("a", "all") {
		c.flags.remove(flagMount)
		c.effects = c.effects&^doesSystem | doesRead
	}
}
