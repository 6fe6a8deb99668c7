// Package term has the words of the facts: effects, accesses, flags and labels, as sets of bits.
package term

import (
	"math/bits"
)

// SetOf makes a set of labels.
func SetOf(labels ...Label) (s Set) {
	for _, l := range labels {
		s.Add(l)
	}
	return s
}

// Access is a set of ways to touch a path.
type Access uint8

const (
	Reads Access = 1 << iota
	Writes
	Deletes
	Executes
)

// AccessNames is in the order of the bits.
var AccessNames = [...]string{"read", "write", "delete", "execute"}

// Effect is one entry of Command.Effects, as a bit of an effects set.
type Effect uint8

const (
	Read Effect = 1 << iota
	Write
	Delete
	Execute
	Network
	Privilege
	Process
	System
)

// EffectNames is in the order of the bits.
var EffectNames = [...]string{"read", "write", "delete", "execute", "network", "privilege", "process", "system"}

// List names the effects.
func (e Effect) List() []string {
	out := make([]string, 0, bits.OnesCount8(uint8(e)))
	for i, name := range EffectNames {
		if e&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Set is a set of up to 192 small numbers: the flags of a command, the labels of a path.
type Set [3]uint64

// Add puts i into the set.
func (s *Set) Add(i uint8) { s[i/64] |= 1 << (i % 64) }

// Remove takes i out.
func (s *Set) Remove(i uint8) { s[i/64] &^= 1 << (i % 64) }

// Has reports whether i is in the set.
func (s Set) Has(i uint8) bool { return s[i/64]&(1<<(i%64)) != 0 }

// Union adds the members of other.
func (s *Set) Union(other Set) { s[0] |= other[0]; s[1] |= other[1]; s[2] |= other[2] }

// UnionWithout adds the members of other that gone lacks.
func (s *Set) UnionWithout(other, gone Set) {
	for i := range s {
		s[i] |= other[i] &^ gone[i]
	}
}

// Meets reports whether both have something in common.
func (s Set) Meets(o Set) bool { return s[0]&o[0]|s[1]&o[1]|s[2]&o[2] != 0 }

// List names the members.
func (s Set) List(n []string) []string {
	out := make([]string, 0, bits.OnesCount64(s[0])+bits.OnesCount64(s[1])+bits.OnesCount64(s[2]))
	for i, name := range n {
		if s.Has(uint8(i)) {
			out = append(out, name)
		}
	}
	return out
}

// Flag is one entry of Command.Flags. docs/policy-input.md defines each; a test holds
// the two lists together.
type Flag = uint8

const (
	FlagRecursive Flag = iota
	FlagForce
	FlagInteractive
	FlagDryRun
	FlagInPlace
	FlagNoPreserveRoot
	FlagAll
	FlagMoves
	FlagForkBomb
	FlagSocketShell
	FlagSocket
	FlagDynamicCode
	FlagDynamicProgram
	FlagShadow
	FlagHistory
	FlagNeverCalled
	FlagDiskWrite
	FlagFormatsDisk
	FlagModeChange
	FlagMakeExecutable
	FlagWidens
	FlagSetid
	FlagOwnerChange
	FlagACLChange
	FlagDestroysData
	FlagRemote
	FlagPublishes
	FlagForcePush
	FlagDiscardsChanges
	FlagRemovesUntracked
	FlagRewritesHistory
	FlagDeletesRef
	FlagBypassesHooks
	FlagConfigExec
	FlagKillsAll
	FlagKillsInit
	FlagKillsByName
	FlagKillsUnknown
	FlagShutdown
	FlagServiceControl
	FlagMount
	FlagKernel
	FlagFirewall
	FlagAccounts
	FlagCronEdit
	FlagScheduled
	FlagPackageInstall
	FlagPackageRemove
	FlagDisablesSecurity
	FlagClock
	FlagDownloads
	FlagUploads
	FlagListens
	FlagTunnel
	FlagRemoteExec
	FlagLoaderEnv
	FlagPathEnv
	FlagHookEnv
	FlagDumpsEnv
	FlagPrintsSecret
	FlagPrivilegedContainer
	FlagHostMount
	FlagHostNamespace
	FlagEscape
	FlagRunsDownloaded
	FlagDecodes
	FlagInsecureTLS
	FlagHTTPDelete
	FlagOpenPath
	FlagSelfControl
	FlagFreesAgent
	FlagRedirectsSource
	FlagNetworkConfig
	FlagProcessMemory
	FlagExhausts
	FlagUnreviewed
	FlagGrants
	FlagAttackTool
	FlagListsNames
	FlagUnresolvedVerb
	FlagInProcess
	FlagMasked
	FlagCount // not a flag: how many there are
)

// FlagNames are the names of the flags.
var FlagNames = []string{
	FlagRecursive: "recursive", FlagForce: "force", FlagInteractive: "interactive", FlagDryRun: "dry_run",
	FlagInPlace: "in_place", FlagNoPreserveRoot: "no_preserve_root", FlagAll: "all", FlagMoves: "moves",

	FlagForkBomb: "fork_bomb", FlagSocketShell: "socket_shell", FlagSocket: "socket", FlagDynamicCode: "dynamic_code",
	FlagDynamicProgram: "dynamic_program",
	FlagShadow:         "shadow", FlagHistory: "history", FlagNeverCalled: "never_called",

	FlagDiskWrite: "disk_write", FlagFormatsDisk: "formats_disk",

	FlagModeChange: "mode_change", FlagMakeExecutable: "make_executable", FlagWidens: "widens", FlagSetid: "setid",
	FlagOwnerChange: "owner_change", FlagACLChange: "acl_change",

	FlagDestroysData: "destroys_data", FlagUnresolvedVerb: "unresolved_verb", FlagRemote: "remote", FlagPublishes: "publishes",

	FlagForcePush: "force_push", FlagDiscardsChanges: "discards_changes", FlagRemovesUntracked: "removes_untracked",
	FlagRewritesHistory: "rewrites_history", FlagDeletesRef: "deletes_ref", FlagBypassesHooks: "bypasses_hooks",
	FlagConfigExec: "config_exec",

	FlagKillsAll: "kills_all", FlagKillsInit: "kills_init", FlagKillsByName: "kills_by_name", FlagKillsUnknown: "kills_unknown",

	FlagShutdown: "shutdown", FlagServiceControl: "service_control", FlagMount: "mount", FlagKernel: "kernel",
	FlagFirewall: "firewall", FlagAccounts: "accounts", FlagCronEdit: "cron_edit", FlagScheduled: "scheduled",
	FlagPackageInstall: "package_install", FlagPackageRemove: "package_remove", FlagDisablesSecurity: "disables_security",
	FlagClock: "clock",

	FlagDownloads: "downloads", FlagUploads: "uploads", FlagListens: "listens", FlagTunnel: "tunnel",
	FlagRemoteExec: "remote_exec",

	FlagLoaderEnv: "loader_env", FlagPathEnv: "path_env", FlagHookEnv: "hook_env", FlagDumpsEnv: "dumps_env",
	FlagPrintsSecret: "prints_secret",

	FlagPrivilegedContainer: "privileged_container", FlagHostMount: "host_mount", FlagHostNamespace: "host_namespace",

	FlagEscape: "escape", FlagRunsDownloaded: "runs_downloaded", FlagDecodes: "decodes",
	FlagInsecureTLS: "insecure_tls", FlagHTTPDelete: "http_delete", FlagOpenPath: "open_path", FlagSelfControl: "self_control", FlagFreesAgent: "frees_agent",
	FlagListsNames: "lists_names", FlagRedirectsSource: "redirects_source", FlagNetworkConfig: "network_config",
	FlagProcessMemory: "process_memory", FlagExhausts: "exhausts", FlagUnreviewed: "unreviewed", FlagGrants: "grants_access",
	FlagAttackTool: "attack_tool", FlagInProcess: "in_process", FlagMasked: "masked",
}

// Label is one entry of Path.Labels.
type Label = uint8

const (
	LabelRoot Label = iota
	LabelTopLevel
	LabelSystemRoot
	LabelHomeRoot
	LabelWorkspaceRoot
	LabelPermissionRoot
	LabelWildcardAll
	LabelRootIfEmpty
	LabelDiskDevice
	LabelNullDevice
	LabelStdDevice
	LabelMemoryDevice
	LabelProcfs
	LabelSysfs
	LabelKernelControl
	LabelShellStartup
	LabelCron
	LabelServiceUnit
	LabelGitDir
	LabelGitHook
	LabelGitConfig
	LabelAuthorizedKeys
	LabelSSHDir
	LabelSSHKey
	LabelCloudCredential
	LabelTokenFile
	LabelEnvFile
	LabelAuthDatabase
	LabelAccountDatabase
	LabelHistoryFile
	LabelSystemLog
	LabelLoaderConfig
	LabelDockerSocket
	LabelBrowserProfile
	LabelKeyring
	LabelAgentConfig
	LabelAutorun
	LabelHoldsAutorun
	LabelDirectoryConfig
	LabelPackageConfig
	LabelHookConfig
	LabelAgentSettings
	LabelPackageSource
	LabelEditorConfig
	LabelCIConfig
	LabelCache
	LabelSelfBinary
	LabelSelfConfig
	LabelSelfPolicy
	LabelSelfAudit
	LabelSelfKey
	LabelSelfSocket
	LabelProtected
	LabelContainsGit
	LabelContainsWorkspace
	LabelContainsProtected
	LabelContainsPermissionRoot
	LabelContainsHome
	LabelContainsSelf
	LabelContainsCredential
	LabelContainsUnseen
	LabelDownloaded
	LabelGeneratedHere
	LabelSymlinkOut
	LabelMetadata
	LabelOwnKey
	LabelFiltered
	LabelProcessMemory
	LabelPlainName
	LabelListedName
	LabelWideRoot
	LabelCriticalName
	LabelContainsCriticalName
	LabelCount // not a label: how many there are
)

// LabelNames are the names of the labels.
var LabelNames = []string{
	LabelRoot: "root", LabelTopLevel: "top_level", LabelSystemRoot: "system_root", LabelHomeRoot: "home_root",
	LabelWorkspaceRoot: "workspace_root", LabelPermissionRoot: "permission_root", LabelWildcardAll: "wildcard_all",
	LabelRootIfEmpty: "root_if_empty",

	LabelDiskDevice: "disk_device", LabelNullDevice: "null_device", LabelStdDevice: "std_device",
	LabelMemoryDevice: "memory_device", LabelProcfs: "procfs", LabelSysfs: "sysfs", LabelKernelControl: "kernel_control",

	LabelShellStartup: "shell_startup", LabelCron: "cron", LabelServiceUnit: "service_unit",
	LabelGitDir: "git_dir", LabelGitHook: "git_hook", LabelGitConfig: "git_config",
	LabelAuthorizedKeys: "authorized_keys", LabelSSHDir: "ssh_dir", LabelSSHKey: "ssh_key",
	LabelCloudCredential: "cloud_credential", LabelTokenFile: "token_file", LabelEnvFile: "env_file",
	LabelAuthDatabase: "auth_database", LabelAccountDatabase: "account_database", LabelHistoryFile: "history_file",
	LabelSystemLog: "system_log", LabelLoaderConfig: "loader_config", LabelDockerSocket: "docker_socket",
	LabelBrowserProfile: "browser_profile", LabelKeyring: "keyring", LabelAgentConfig: "agent_config",
	LabelAutorun: "autorun", LabelHoldsAutorun: "holds_autorun", LabelDirectoryConfig: "directory_config",
	LabelPackageConfig: "package_config", LabelHookConfig: "hook_config",
	LabelAgentSettings: "agent_settings", LabelPackageSource: "package_source",
	LabelEditorConfig: "editor_config", LabelCIConfig: "ci_config", LabelCache: "cache",

	LabelSelfBinary: "self_binary", LabelSelfConfig: "self_config", LabelSelfPolicy: "self_policy", LabelSelfAudit: "self_audit", LabelSelfKey: "self_key",
	LabelSelfSocket: "self_socket",

	LabelProtected: "protected", LabelContainsGit: "contains_git", LabelContainsWorkspace: "contains_workspace",
	LabelContainsProtected: "contains_protected", LabelContainsPermissionRoot: "contains_permission_root",
	LabelContainsHome: "contains_home", LabelContainsSelf: "contains_self", LabelContainsCredential: "contains_credential", LabelContainsUnseen: "contains_unseen",
	LabelDownloaded: "downloaded", LabelGeneratedHere: "generated_here", LabelSymlinkOut: "symlink_out",
	LabelMetadata: "metadata", LabelOwnKey: "own_key", LabelFiltered: "filtered", LabelPlainName: "plain_name", LabelListedName: "listed_name",
	LabelProcessMemory: "process_memory", LabelWideRoot: "wide_root",
	LabelCriticalName: "critical_name", LabelContainsCriticalName: "contains_critical_name",
}
