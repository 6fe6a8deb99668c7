# METADATA
# title: Read of credentials
# description: >-
#   Reads keys, tokens or password stores. Options by which a program takes its own credentials (ssh -i,
#   kubectl --kubeconfig) are not meant; for an .env file in the workspace a person is asked, and for a
#   search, a copy or an archive that reaches one.
# custom:
#   severity: critical
#   remediation: >-
#     Let the program that needs the credential read it itself; never print or copy it. Leave it out of searches and archives, for
#     example by --exclude='.env*', or search with git grep.
#   config:
#     files: {keys/.env: A=1, keys/a.txt: x}
#   examples:
#     - cat ~/.ssh/id_rsa
#     - cat ~/.aws/credentials
#     - P1=~/.ssh; P2=id_rsa; cat $P1/$P2
#     - cp ~/.netrc ./x
#     - base64 < ~/.ssh/id_ed25519
#     - ln -s ~/.ssh/id_rsa k
#     - openssl base64 -in ~/.ssh/id_rsa
#     - git add .env
#     - git diff --no-index /dev/null ~/.ssh/id_rsa
#     - scp ~/.ssh/id_rsa build/k
#     - openssl rsa -in ~/.ssh/id_rsa
#     - zip -e x.zip /etc/passwd
#     - tr '\0' '\n' < /proc/1/environ
#     - grep -r DB_PASSWORD keys
#     - tar czf x.tgz keys
#     - find keys -type f | xargs cat
#     - find . -type f -exec cat {} +
#   lookalikes:
#     - grep -rn TODO src
#     - rg TODO
#     - grep -r DB_PASSWORD keys --exclude='.env*'
#     - find keys -name '*.txt' -exec cat {} +
#     - tar czf x.tgz src
#     - cat ~/.ssh/id_rsa.pub
#     - cat .env.example
#     - ssh -i ~/.ssh/id_rsa dev@host.example uptime
#     - kubectl --kubeconfig ~/.kube/config get pods
#     - ssh-keygen -l -f ~/.ssh/id_rsa
#     - openssl rsa -in ~/.ssh/id_rsa -pubout
#     - ls -la ~
#     - grep -rn credentials src
#     - cat /proc/meminfo
#     - git add .env.example
#     - grep -l DEBUG .env
#     - grep root /etc/passwd
package sallyport.rules.paths.credentials_read

import data.sallyport.lib

# A client uses its own key or settings, and does not print them.
_quiet(p) if "own_key" in p.labels

_quiet(p) if "metadata" in p.labels

_quiet(p) if "generated_here" in p.labels

deny contains {"path": i, "msg": $"{p.path} holds credentials"} if {
	some i in lib.in_zone.credential
	p := input.paths[i]
	p.access == "read"
	not _quiet(p)
}

_unprinted(p) if input.commands[p.command].name in {".", "source"}

# It prints the names of files that match, not the lines: grep -l.
_unprinted(p) if "lists_names" in input.commands[p.command].flags

# It changes files where they are: sed -i.
_unprinted(p) if {
	p.recursive
	"in_place" in input.commands[p.command].flags
}

# It prints numbers that stand for the content.
_unprinted(p) if {
	p.recursive
	input.commands[p.command].name in _measures
}

_measures := {"b2sum", "cksum", "cloc", "file", "md5sum", "sha1sum", "sha256sum", "sha512sum", "sum", "tokei", "wc"}

# The project's own file of settings, which it reads all day; an agent has seldom a need to.
ask contains {"path": i, "msg": $"{p.path} may hold credentials"} if {
	some i in lib.with_label.env_file
	p := input.paths[i]
	p.access == "read"
	p.zone != "credential"
	p.seen != "created"
	not _quiet(p)
	not _unprinted(p)
}

# People type secrets on command lines.
ask contains {"path": i, "msg": $"{p.path} may hold secrets that were typed"} if {
	some i in lib.with_label.history_file
	p := input.paths[i]
	p.access == "read"
	not _quiet(p)
}

# The list of accounts is read all day; packed or encrypted it is made ready to be taken away, or away from its owner.
_packers := {"7z", "7za", "7zz", "age", "ccencrypt", "ccrypt", "gpg", "gpg2", "mcrypt", "openssl", "rar", "zip"}

ask contains {"path": i, "msg": $"{p.path} lists the users of this machine"} if {
	some i in lib.with_label.account_database
	p := input.paths[i]
	p.access == "read"
	input.commands[p.command].name in _packers
	not "metadata" in p.labels
}

# The environment and the memory of a program hold its secrets.
ask contains {"path": i, "msg": $"{p.path} can hold secrets of a program"} if {
	some i in lib.with_label.process_memory
	p := input.paths[i]
	p.access == "read"
	not _quiet(p)
}

# A read of a whole tree that has credentials in it, or may have: of a very big one not all is looked at.
ask contains {"path": i, "msg": $"credentials lie below {p.path}"} if {
	some i in lib.with_label.contains_credential
	p := input.paths[i]
	_whole(p)
}

ask contains {"path": i, "msg": $"credentials may lie below {p.path}, where too much lies to look at"} if {
	some i in lib.with_label.contains_unseen
	p := input.paths[i]
	_whole(p)
	p.zone != "system"
}

_whole(p) if {
	p.access == "read"
	p.recursive
	p.zone != "credential"
	not _quiet(p)
	not _kept(p)
}

_kept(p) if {
	p.zone in {"workspace", "temporary"}
	_unprinted(p)
}
