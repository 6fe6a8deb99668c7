package facts

import (
	"slices"
	"strings"
)

// busMeanings give the effects of calls over D-Bus, by a part of the name of the interface and by the first letters of the method.
// The first that fits holds. Reads, and services of own programs or the desktop, have no meaning here.
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

// busCall reads the words of busctl, gdbus, dbus-send, qdbus: names with dots, of which the last part of one is the method,
// or a method of its own.
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

// isMethod: of "org.freedesktop.login1.Manager.Reboot" the last part counts. A property that is set has the method Set.
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
