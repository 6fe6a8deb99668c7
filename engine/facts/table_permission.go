package facts

// permissionRows: modes, owners and other rights of files, and becoming someone else.
var permissionRows = []row{
	{cmd: "chmod gchmod", does: "write mode_change", style: styleNone, hook: chmod},
	{cmd: "chown gchown", does: "write owner_change", args: "-,write", opts: "-R --recursive > recursive; --reference =read? > @first; --from =-; --no-preserve-root > no_preserve_root"},
	{cmd: "chgrp gchgrp", does: "write owner_change", args: "-,write", opts: "-R --recursive > recursive; --reference =read? > @first; --no-preserve-root > no_preserve_root"},
	{cmd: "setfacl", does: "write acl_change", args: "write", opts: "-m --modify =-; -M --modify-file =read; -x --remove =-; -X --remove-file =read; --set =-; --set-file =read; --restore =read; --test > dry_run", hook: setfacl},
	{cmd: "setcap", does: "write setid", args: "-,write", opts: "-n =-", hook: setcap},
	{cmd: "chattr chflags setfattr xattr", does: "write acl_change", args: "-,write", style: styleNone, hook: flagWords},
	{cmd: "chcon restorecon semanage setsebool", does: "write acl_change system", args: "-,write", opts: "-R -r --recursive > recursive; -t --type =- > @first; -u --user =- > @first"},
	{cmd: "icacls takeown attrib cacls", does: "write acl_change", args: "write,-", style: styleNone},
	{cmd: "umask", args: "-"},

	{cmd: "sudo doas", does: "privilege", args: "cmd", opts: "-u --user =-; -g --group =-; -h --host =-; -p --prompt =-; -C --close-from =-; -D --chdir =-; -R --chroot =-; -r --role =-; -t --type =-; -T --command-timeout =-; -U --other-user =-", hook: sudoEdit},
	{cmd: "su", does: "privilege", args: "-", opts: "-c --command =-; -s --shell =-; -g --group =-; -G --supp-group =-; -w --whitelist-environment =-"},
	{cmd: "sudoedit", does: "privilege read write", args: "edit", opts: "-u --user =-; -g --group =-"},
	{cmd: "pkexec run0 runuser gosu su-exec setpriv calife super dzdo pfexec gksudo gksu kdesu kdesudo beesu pmrun sg newgrp sux", does: "privilege", args: "cmd", opts: "-u --user =-; -g --group =-; --reuid =-; --regid =-; -c --command =-"},
	{cmd: "capsh", does: "privilege execute", args: "cmd"},
}
