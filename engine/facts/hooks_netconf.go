package facts

import (
	"slices"
	"strings"
)

// networkChanges are the words with which the tools of the network change it. "*" stands for any word, "**" for any second
// one: "ifconfig eth0" looks, "ifconfig eth0 down" changes. A word with "+" needs two behind it: "resolvectl dns eth0" looks.
// A tool that none of its words makes change only looks.
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

// changesBy compares a word with one that changes. The first word of a tool that knows abbreviations is its object:
// "ip a" shows addresses.
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
