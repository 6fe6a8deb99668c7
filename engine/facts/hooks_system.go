package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// shutdownNot: shutdown -c cancels one, --help explains it.
func shutdownNot(c *call) {
	if c.cmd.Name == "shutdown" && c.has("c") || c.has("help") {
		c.flags.remove(flagShutdown)
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

// busMeanings give the effects of calls over D-Bus, by a part of the name of the interface and by the first
// letters of the method. The first that fits holds. Reads, and services of own programs or the desktop, have
// no meaning here.
var busMeanings = []struct {
	at, methods string
	flag        flag
}{
	{"", "PowerOff Reboot Halt KExec Suspend Hibernate HybridSleep SoftReboot RequestShutdown RequestReboot", flagShutdown},
	{"systemd1", "Get List Load Subscribe Unsubscribe Introspect", flagCount},
	{"systemd1", "", flagServiceControl},
	{"login1", "Terminate Kill Set Schedule Flush Attach Lock Activate Release", flagServiceControl},
	{"machine1", "Terminate Kill Remove Open Create Copy Bind Rename Set Clean Clone", flagServiceControl},
	{"timedate1", "Set", flagClock},
	{"hostname1", "Set", flagNetworkConfig},
	{"locale1", "Set", flagServiceControl},
	{"resolve1", "Set Revert Flush Reset", flagNetworkConfig},
	{"network1", "Set Revert Renew Force Reconfigure Reload", flagNetworkConfig},
	{"NetworkManager", "Activate Deactivate Add Delete Update Enable Sleep Disconnect Reapply Reload Set Save Load Checkpoint", flagNetworkConfig},
	{"wpa_supplicant1", "Add Remove Select Disconnect Reassociate Create Set", flagNetworkConfig},
	{"firewalld", "add Add remove Remove set Set reload Reload enable Enable disable Disable runtimeToPermanent", flagDisablesSecurity},
	{"Accounts", "Create Delete Set Cache Uncache", flagAccounts},
	{"PackageKit", "Install Update Upgrade", flagPackageInstall},
	{"PackageKit", "Remove", flagPackageRemove},
	{"PolicyKit1", "Register Unregister Authentication Revoke Enumerate Check", flagAccounts},
	{"UDisks2", "Format Delete Create Mount Unmount PowerOff Eject Resize Wipe SecurityErase Lock Unlock", flagMount},
	{"DBus", "UpdateActivationEnvironment StartServiceByName Set", flagServiceControl},
	{"secret", "GetSecret SearchItems", flagPrintsSecret},
	{"ksmserver", "logout", flagShutdown},
	{"SessionManager", "Shutdown Logout Reboot", flagShutdown},
}

// busWords: an address may be a program to start.
func busWords(c *call) {
	journal(c)
	busCall(c)
}

// busCall reads the words of busctl, gdbus, dbus-send, qdbus: names with dots, of which the last part of one
// is the method, or a method of its own.
func busCall(c *call) {
	words := texts(c.cmd.Words[1:])
	calls := strings.HasPrefix(c.cmd.Name, "qdbus") || c.cmd.Name == "dbus-send"
	for _, verb := range []string{"call", "set-property", "emit"} {
		calls = calls || slices.Contains(words, verb)
	}
	if !calls || slices.Contains(words, "--type=signal") {
		return
	}
	at := strings.Join(words, " ")
	for _, m := range busMeanings {
		if !strings.Contains(at, m.at) || !slices.ContainsFunc(words, func(word string) bool { return isMethod(word, m.methods) }) {
			continue
		}
		if m.flag != flagCount {
			c.flags.add(m.flag)
			c.effects |= doesSystem
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

// networkChanges are the words with which the tools of the network change it. "*" stands for any word, "**"
// for any second one: "ifconfig eth0" looks, "ifconfig eth0 down" changes. A word with "+" needs two behind
// it: "resolvectl dns eth0" looks. A tool that none of its words makes change only looks.
var networkChanges = map[string]string{
	"route":           "add del delete change flush -f",
	"ifconfig":        "**",
	"iwconfig":        "**",
	"ipconfig":        "set /release /renew /flushdns",
	"nmcli":           "up down modify add edit clone delete reload load import migrate set connect reapply disconnect hotspot on off",
	"netplan":         "apply try set rebind",
	"resolvectl":      "revert dns+ domain+ default-route+ llmnr+ mdns+ dnssec+ dnsovertls+ nta+",
	"systemd-resolve": "--set-dns --set-domain --set-llmnr --set-mdns --set-dnssec --set-dnsovertls --revert",
	"resolvconf":      "-a -d -u --enable-updates --disable-updates",
	"tc":              "add del delete change replace flush",
	"ethtool":         "-s --change -K --features --offload -G --set-ring -C --coalesce -A --pause -L --set-channels -U -N --config-nfc -X --rxfh -E --change-eeprom -f --flash -r --negotiate --reset --set-eee --set-priv-flags",
	"brctl":           "addbr delbr addif delif stp setageing setbridgeprio setfd sethello setmaxage setpathcost setportprio hairpin",
	"bridge":          "add del delete append replace set change flush",
	"ovs-vsctl":       "add-br del-br add-port del-port add-bond set clear add remove destroy create emer-reset set-controller del-controller set-fail-mode init",
	"ovs-ofctl":       "add-flow add-flows mod-flows del-flows replace-flows mod-port add-group del-groups",
	"wg":              "set setconf addconf syncconf",
	"wg-quick":        "up down save",
	"wpa_cli":         "disconnect reconnect reassociate terminate remove_network add_network set_network select_network enable_network disable_network save_config reconfigure flush set",
	"iw":              "set connect disconnect join leave add del",
	"arp":             "-d --delete -s --set -f --file",
	"rfkill":          "block unblock toggle",
	"hostnamectl":     "set-hostname set-icon-name set-chassis set-deployment set-location",
	"hostname":        "*",
	"networksetup":    "-set -create -delete -remove -add -switch -order -rename -import",
	"scutil":          "--set",
	"networkctl":      "up down renew forcerenew reconfigure reload delete edit mask unmask persistent-storage",
	"ipset":           "add del create destroy flush swap rename restore -A -D -N -X -F -W -E -R",
	"tailscale":       "up down set logout switch",
	"zerotier-cli":    "join leave set",
	"nordvpn":         "connect c disconnect d set login logout",
	"ip":              "add append change chg replace delete set flush restore -batch -b -force",
}

// abbreviating are those whose words may be given shorter: "ip r d default", "nmcli c m x".
var abbreviating = map[string][]string{
	"ip":    {"show", "list", "lst", "get", "monitor", "save", "showdump", "help"},
	"nmcli": {"show", "status", "list", "monitor", "permissions", "help", "hostname", "export"},
}

// networkConfig marks commands that change the interfaces, routes, names or radio of the machine.
func networkConfig(c *call) {
	name := strings.ToLower(c.cmd.Name)
	changes := strings.Fields(networkChanges[name])
	given := 0
	if len(c.operands) > 2 && slices.Contains(changes, c.operand(0)+"+") {
		c.flags.add(flagNetworkConfig)
		c.effects |= doesSystem
	}
	for _, w := range c.cmd.Words[1:] {
		if !isOption(w) {
			given++
		}
		if given > 1 && slices.Contains(changes, "**") || !isOption(w) && slices.Contains(changes, "*") ||
			slices.ContainsFunc(changes, func(change string) bool { return c.changesBy(w.Text, change, given) }) {
			c.flags.add(flagNetworkConfig)
			c.effects |= doesSystem
			return
		}
	}
}

// changesBy compares a word with one that changes. The first word of a tool that knows abbreviations is its
// object: "ip a" shows addresses.
func (c *call) changesBy(word, change string, given int) bool {
	if option, _, _ := strings.Cut(word, "="); option == change || change[0] == '-' && len(change) > 2 && c.cmd.Name == "networksetup" && strings.HasPrefix(word, change) {
		return true
	}
	looks, short := abbreviating[c.cmd.Name]
	if !short || given < 2 || given > 3 || word == "" || !strings.HasPrefix(change, word) {
		return false
	}
	if given == 3 && c.cmd.Name == "ip" {
		return false // a value
	}
	if strings.HasPrefix(c.operand(0), "l") && c.cmd.Name == "ip" && word[0] == 's' && len(c.operands) > 3 {
		return true // ip l s eth0 down
	}
	return !slices.ContainsFunc(looks, func(look string) bool { return strings.HasPrefix(look, word) })
}
