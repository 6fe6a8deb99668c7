package facts

import "math/bits"

// effect is one entry of Command.Effects, as a bit of an effects set.
type effect uint8

const (
	doesRead effect = 1 << iota
	doesWrite
	doesDelete
	doesExecute
	doesNetwork
	doesPrivilege
	doesProcess
	doesSystem
)

// effectNames is in the order of the bits.
var effectNames = [...]string{"read", "write", "delete", "execute", "network", "privilege", "process", "system"}

func (e effect) list() []string {
	out := make([]string, 0, bits.OnesCount8(uint8(e)))
	for i, name := range effectNames {
		if e&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// bitset is a set of up to 192 small numbers: the flags of a command, the labels of a path.
type bitset [3]uint64

func (s *bitset) add(i uint8)        { s[i/64] |= 1 << (i % 64) }
func (s *bitset) remove(i uint8)     { s[i/64] &^= 1 << (i % 64) }
func (s bitset) has(i uint8) bool    { return s[i/64]&(1<<(i%64)) != 0 }
func (s *bitset) union(other bitset) { s[0] |= other[0]; s[1] |= other[1]; s[2] |= other[2] }

// unionWithout adds what is in other and not in gone.
func (s *bitset) unionWithout(other, gone bitset) {
	for i := range s {
		s[i] |= other[i] &^ gone[i]
	}
}

func (s bitset) meets(o bitset) bool { return s[0]&o[0]|s[1]&o[1]|s[2]&o[2] != 0 }
func (s bitset) list(n []string) []string {
	out := make([]string, 0, bits.OnesCount64(s[0])+bits.OnesCount64(s[1])+bits.OnesCount64(s[2]))
	for i, name := range n {
		if s.has(uint8(i)) {
			out = append(out, name)
		}
	}
	return out
}

// flag is one entry of Command.Flags. docs/policy-input.md says what each means; a test holds
// the two lists together.
type flag = uint8

const (
	flagRecursive flag = iota
	flagForce
	flagInteractive
	flagDryRun
	flagInPlace
	flagNoPreserveRoot
	flagAll
	flagMoves
	flagForkBomb
	flagSocketShell
	flagSocket
	flagDynamicCode
	flagShadow
	flagHistory
	flagNeverCalled
	flagDiskWrite
	flagFormatsDisk
	flagModeChange
	flagMakeExecutable
	flagWidens
	flagSetid
	flagOwnerChange
	flagACLChange
	flagDestroysData
	flagRemote
	flagPublishes
	flagForcePush
	flagDiscardsChanges
	flagRemovesUntracked
	flagRewritesHistory
	flagDeletesRef
	flagBypassesHooks
	flagConfigExec
	flagKillsAll
	flagKillsInit
	flagKillsByName
	flagKillsUnknown
	flagShutdown
	flagServiceControl
	flagMount
	flagKernel
	flagFirewall
	flagAccounts
	flagCronEdit
	flagScheduled
	flagPackageInstall
	flagPackageRemove
	flagDisablesSecurity
	flagClock
	flagDownloads
	flagUploads
	flagListens
	flagTunnel
	flagRemoteExec
	flagLoaderEnv
	flagPathEnv
	flagHookEnv
	flagDumpsEnv
	flagPrintsSecret
	flagPrivilegedContainer
	flagHostMount
	flagHostNamespace
	flagEscape
	flagRunsDownloaded
	flagDecodes
	flagInsecureTLS
	flagHTTPDelete
	flagOpenPath
	flagSelfControl
	flagFreesAgent
	flagRedirectsSource
	flagNetworkConfig
	flagProcessMemory
	flagExhausts
	flagUnreviewed
	flagGrants
	flagAttackTool
	flagListsNames
	flagUnresolvedVerb
	flagCount // not a flag: how many there are
)

var flagNames = []string{
	flagRecursive: "recursive", flagForce: "force", flagInteractive: "interactive", flagDryRun: "dry_run",
	flagInPlace: "in_place", flagNoPreserveRoot: "no_preserve_root", flagAll: "all", flagMoves: "moves",

	flagForkBomb: "fork_bomb", flagSocketShell: "socket_shell", flagSocket: "socket", flagDynamicCode: "dynamic_code",
	flagShadow: "shadow", flagHistory: "history", flagNeverCalled: "never_called",

	flagDiskWrite: "disk_write", flagFormatsDisk: "formats_disk",

	flagModeChange: "mode_change", flagMakeExecutable: "make_executable", flagWidens: "widens", flagSetid: "setid",
	flagOwnerChange: "owner_change", flagACLChange: "acl_change",

	flagDestroysData: "destroys_data", flagUnresolvedVerb: "unresolved_verb", flagRemote: "remote", flagPublishes: "publishes",

	flagForcePush: "force_push", flagDiscardsChanges: "discards_changes", flagRemovesUntracked: "removes_untracked",
	flagRewritesHistory: "rewrites_history", flagDeletesRef: "deletes_ref", flagBypassesHooks: "bypasses_hooks",
	flagConfigExec: "config_exec",

	flagKillsAll: "kills_all", flagKillsInit: "kills_init", flagKillsByName: "kills_by_name", flagKillsUnknown: "kills_unknown",

	flagShutdown: "shutdown", flagServiceControl: "service_control", flagMount: "mount", flagKernel: "kernel",
	flagFirewall: "firewall", flagAccounts: "accounts", flagCronEdit: "cron_edit", flagScheduled: "scheduled",
	flagPackageInstall: "package_install", flagPackageRemove: "package_remove", flagDisablesSecurity: "disables_security",
	flagClock: "clock",

	flagDownloads: "downloads", flagUploads: "uploads", flagListens: "listens", flagTunnel: "tunnel",
	flagRemoteExec: "remote_exec",

	flagLoaderEnv: "loader_env", flagPathEnv: "path_env", flagHookEnv: "hook_env", flagDumpsEnv: "dumps_env",
	flagPrintsSecret: "prints_secret",

	flagPrivilegedContainer: "privileged_container", flagHostMount: "host_mount", flagHostNamespace: "host_namespace",

	flagEscape: "escape", flagRunsDownloaded: "runs_downloaded", flagDecodes: "decodes",
	flagInsecureTLS: "insecure_tls", flagHTTPDelete: "http_delete", flagOpenPath: "open_path", flagSelfControl: "self_control", flagFreesAgent: "frees_agent",
	flagListsNames: "lists_names", flagRedirectsSource: "redirects_source", flagNetworkConfig: "network_config",
	flagProcessMemory: "process_memory", flagExhausts: "exhausts", flagUnreviewed: "unreviewed", flagGrants: "grants_access",
	flagAttackTool: "attack_tool",
}

// label is one entry of Path.Labels.
type label = uint8

const (
	labelRoot label = iota
	labelTopLevel
	labelSystemRoot
	labelHomeRoot
	labelWorkspaceRoot
	labelPermissionRoot
	labelWildcardAll
	labelRootIfEmpty
	labelDiskDevice
	labelNullDevice
	labelStdDevice
	labelMemoryDevice
	labelProcfs
	labelSysfs
	labelKernelControl
	labelShellStartup
	labelCron
	labelServiceUnit
	labelGitDir
	labelGitHook
	labelGitConfig
	labelAuthorizedKeys
	labelSSHDir
	labelSSHKey
	labelCloudCredential
	labelTokenFile
	labelEnvFile
	labelAuthDatabase
	labelAccountDatabase
	labelHistoryFile
	labelSystemLog
	labelLoaderConfig
	labelDockerSocket
	labelBrowserProfile
	labelKeyring
	labelAgentConfig
	labelAutorun
	labelHoldsAutorun
	labelDirectoryConfig
	labelPackageConfig
	labelHookConfig
	labelAgentSettings
	labelPackageSource
	labelEditorConfig
	labelCIConfig
	labelCache
	labelSelfBinary
	labelSelfConfig
	labelSelfPolicy
	labelSelfAudit
	labelSelfKey
	labelProtected
	labelContainsGit
	labelContainsWorkspace
	labelContainsProtected
	labelContainsPermissionRoot
	labelContainsHome
	labelContainsSelf
	labelContainsCredential
	labelContainsUnseen
	labelDownloaded
	labelGeneratedHere
	labelSymlinkOut
	labelMetadata
	labelOwnKey
	labelFiltered
	labelProcessMemory
	labelPlainName
	labelListedName
	labelWideRoot
	labelCriticalName
	labelContainsCriticalName
	labelCount // not a label: how many there are
)

var labelNames = []string{
	labelRoot: "root", labelTopLevel: "top_level", labelSystemRoot: "system_root", labelHomeRoot: "home_root",
	labelWorkspaceRoot: "workspace_root", labelPermissionRoot: "permission_root", labelWildcardAll: "wildcard_all",
	labelRootIfEmpty: "root_if_empty",

	labelDiskDevice: "disk_device", labelNullDevice: "null_device", labelStdDevice: "std_device",
	labelMemoryDevice: "memory_device", labelProcfs: "procfs", labelSysfs: "sysfs", labelKernelControl: "kernel_control",

	labelShellStartup: "shell_startup", labelCron: "cron", labelServiceUnit: "service_unit",
	labelGitDir: "git_dir", labelGitHook: "git_hook", labelGitConfig: "git_config",
	labelAuthorizedKeys: "authorized_keys", labelSSHDir: "ssh_dir", labelSSHKey: "ssh_key",
	labelCloudCredential: "cloud_credential", labelTokenFile: "token_file", labelEnvFile: "env_file",
	labelAuthDatabase: "auth_database", labelAccountDatabase: "account_database", labelHistoryFile: "history_file",
	labelSystemLog: "system_log", labelLoaderConfig: "loader_config", labelDockerSocket: "docker_socket",
	labelBrowserProfile: "browser_profile", labelKeyring: "keyring", labelAgentConfig: "agent_config",
	labelAutorun: "autorun", labelHoldsAutorun: "holds_autorun", labelDirectoryConfig: "directory_config",
	labelPackageConfig: "package_config", labelHookConfig: "hook_config",
	labelAgentSettings: "agent_settings", labelPackageSource: "package_source",
	labelEditorConfig: "editor_config", labelCIConfig: "ci_config", labelCache: "cache",

	labelSelfBinary: "self_binary", labelSelfConfig: "self_config", labelSelfPolicy: "self_policy", labelSelfAudit: "self_audit", labelSelfKey: "self_key",
	labelProtected: "protected", labelContainsGit: "contains_git", labelContainsWorkspace: "contains_workspace",
	labelContainsProtected: "contains_protected", labelContainsPermissionRoot: "contains_permission_root",
	labelContainsHome: "contains_home", labelContainsSelf: "contains_self", labelContainsCredential: "contains_credential", labelContainsUnseen: "contains_unseen",
	labelDownloaded: "downloaded", labelGeneratedHere: "generated_here", labelSymlinkOut: "symlink_out",
	labelMetadata: "metadata", labelOwnKey: "own_key", labelFiltered: "filtered", labelPlainName: "plain_name", labelListedName: "listed_name",
	labelProcessMemory: "process_memory", labelWideRoot: "wide_root",
	labelCriticalName: "critical_name", labelContainsCriticalName: "contains_critical_name",
}
