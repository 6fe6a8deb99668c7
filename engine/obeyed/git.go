package obeyed

import (
	"slices"
	"strings"
)

// plainGit are the settings of git-config(1) that start no program and name no file, by "section" or
// "section.*" for one with a subsection, apart by blanks. Clones, branches, remotes, submodules and
// identities need no others.
var plainGit = map[string]string{
	"core": `abbrev autocrlf bare bigFileThreshold checkStat compression deltaBaseCacheLimit eol fileMode
		filemode ignoreCase ignorecase logAllRefUpdates logallrefupdates longpaths multiPackIndex
		packedGitLimit packedGitWindowSize precomposeUnicode precomposeunicode preloadIndex protectHFS
		protectNTFS quotePath quotepath repositoryFormatVersion repositoryformatversion safecrlf
		sparseCheckout sparseCheckoutCone symlinks trustctime untrackedCache warnAmbiguousRefs whitespace`,
	"extensions": `compatObjectFormat objectFormat objectformat partialClone partialclone refStorage
		refstorage worktreeConfig`,
	"remote.*": `fetch followRemoteHEAD mirror partialclonefilter promisor prune pruneTags push pushurl
		skipDefaultUpdate skipFetchAll tagOpt tagopt url`,
	"branch.*": `autoSetupMerge base description github-pr-owner-number gk-last-accessed gk-merge-base merge
		pushRemote rebase remote vscode-merge-base`,
	"submodule.*": "active branch fetchRecurseSubmodules ignore shallow url",
	"submodule":   "active fetchJobs propagateBranches recurse",
	"user":        "email name signingKey signingkey useConfigOnly",
	"author":      "email name",
	"committer":   "email name",
	"init":        "defaultBranch",
	"pull":        "ff rebase",
	"push":        "autoSetupRemote default followTags recurseSubmodules",
	"fetch":       "fsckObjects parallel prune pruneTags recurseSubmodules writeCommitGraph",
	"merge":       "conflictStyle conflictstyle ff renameLimit renames",
	"rebase":      "autoSquash autoStash updateRefs",
	"rerere":      "autoUpdate enabled",
	"commit":      "verbose",
	"tag":         "sort",
	"log":         "date decorate",
	"status":      "showUntrackedFiles submoduleSummary",
	"diff":        "algorithm colorMoved mnemonicPrefix renameLimit renames",
	"gc":          "auto autoDetach autoPackLimit pruneExpire reflogExpire",
	"pack":        "threads window windowMemory",
	"index":       "skipHash threads version",
	"feature":     "experimental manyFiles",
	"advice":      "detachedHead",
	"color":       "ui",
	"lfs":         "repositoryformatversion",
	"maintenance": "auto strategy",
}

// PlainGit reports whether a setting of git's starts no program and leads to no other file. sub says that its
// section has a subsection. An address in it is one by which git starts no program (gitremote-helpers(7)).
func PlainGit(section string, sub bool, key, value string) bool {
	if sub {
		section += ".*"
	}
	if !slices.Contains(strings.Fields(plainGit[section]), key) {
		return false
	}
	if key != "url" && key != "pushurl" {
		return true
	}
	return value != "" && value[0] != '-' && !strings.Contains(value, "::")
}
