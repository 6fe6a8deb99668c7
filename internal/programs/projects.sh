#!/usr/bin/env bash
# projects.sh SALLYPORT [NAME]: builds and tests the projects of testdata/projects.txt (or the one of a name)
# with their programs judged, in the default sandbox and under the profile "standard". It fetches them first,
# outside, from the registries that go, npm and apt-get are set up for, and runs the commands once without
# Sallyport, in a copy. It prints for each project the number of programs that started, the refused ones, and the
# status of its commands. Status 1: a program was refused, a status differs, or a project could not be fetched.
set -uo pipefail
sallyport=$(realpath "$1") only=${2:-} here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir -p "$work"/ws/{go,mod,deb,npm} "$work"/apt/{lists,cache/archives}/partial
cat >"$work/config.yaml" <<END
version: 1
programs: {mode: judged, ask: refuse}
profile: standard
undo: {enabled: false}
environment: {env: [GOCACHE, GOMODCACHE, GOPROXY, GOFLAGS, GOTOOLCHAIN]}
audit: {dir: $work/log}
END
export GOCACHE=$work/ws/cache GOMODCACHE=$work/ws/mod GOFLAGS=-mod=mod GOTOOLCHAIN=local

# Sources of Debian, with lists of their own: those of the machine stay as they are.
apt() {
	apt-get -q -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=root "$@"
}
sources() {
	[ -e "$work/apt/sources.list" ] && return
	local key=/usr/share/keyrings/debian-archive-keyring.gpg line='$(REPO_URI) $(CODENAME) $(COMPONENT)'
	apt-get indextargets --format "deb-src [signed-by=$key] $line" 'Created-By: Packages' 'Component: main' |
		sort -u >"$work/apt/sources.list"
	apt update >/dev/null
}

# fetch gets a project and prints its directory.
fetch() {
	case $1 in
	go)
		local from
		from=$(cd "$work" && go mod download -json "$2@$3" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
		[ -n "$from" ] || return
		cp -r "$from" "$work/ws/go/" && chmod -R u+w "$work/ws/go" && from=$work/ws/go/$(basename "$from")
		(cd "$from" && go mod download all && go list -deps -test ./... >/dev/null) >&2 || return
		echo "$from"
		;;
	npm)
		mkdir "$work/ws/npm/$2" && cd "$work/ws/npm/$2" || return
		npm pack --silent "$2@$3" >/dev/null && tar xzf ./*.tgz || return
		(cd package && npm install --silent --ignore-scripts --no-audit --no-fund) >&2 || return
		echo "$work/ws/npm/$2/package"
		;;
	deb)
		sources && mkdir "$work/ws/deb/$2" && cd "$work/ws/deb/$2" && { apt source "$2" || apt source "$2/$(. /etc/os-release; echo "$VERSION_CODENAME")"; } >&2 || return
		find "$PWD" -mindepth 1 -maxdepth 1 -type d
		;;
	esac
}

# field prints a number or a list of the JSON that exec prints.
field() { python3 -c 'import json,sys
d = json.load(open(sys.argv[1])); p = d.get("programs") or {}
refused = ["%s: %s: %s" % (r["words"], r["rule"], r["message"]) for r in p.get("refused") or []]
if d["effect"] != "allow": refused.append("the text: %s" % [r["rule"] for r in d["reasons"]])
lines = "\n".join("    " + r for r in refused)
print({"status": d.get("status"), "started": p.get("started", 0), "refused": len(refused), "list": lines}[sys.argv[2]])' \
	"$1" "$2"; }

projects=0 programs=0 refusals=0 differ=0 lost=0
while read -r kind name version commands; do
	[[ $kind = "#"* || -z $kind ]] && continue
	[ -n "$only" ] && [ "$only" != "$name" ] && continue
	if ! dir=$(fetch "$kind" "$name" "$version" 2>"$work/fetch.log"); then
		lost=$((lost + 1))
		echo "$name: not fetched: $(tail -n 1 "$work/fetch.log")"
		continue
	fi
	cp -a "$dir" "$work/plain" && plain=0
	(cd "$work/plain" && GOPROXY=off setpriv --inh-caps=-all --bounding-set=-all \
		timeout 1800 bash -c "$commands") </dev/null >"$work/plain.out" 2>&1 || plain=$?
	rm -rf "$work/plain"
	(cd "$work/ws" && GOPROXY=off "$sallyport" --config "$work/config.yaml" exec --timeout 30m --format json \
		-c "cd ${dir#"$work/ws/"} && $commands") </dev/null >"$work/out.json" 2>"$work/err"
	if ! started=$(field "$work/out.json" started); then
		lost=$((lost + 1))
		echo "$name: $(cat "$work/err")"
		continue
	fi
	status=$(field "$work/out.json" status) refused=$(field "$work/out.json" refused)
	projects=$((projects + 1)) programs=$((programs + started)) refusals=$((refusals + refused))
	[ "$status" = "$plain" ] || differ=$((differ + 1))
	echo "$kind $name: $started programs, $refused refused, status $status, without Sallyport $plain"
	field "$work/out.json" list | sed '/^$/d'
	[ -z "${SHOW:-}" ] || { tail -c 3000 "$work/out.json"; echo; tail -c 3000 "$work/plain.out"; }
done <"$here/testdata/projects.txt"
echo "$projects projects, $programs programs, $refusals refusals;" \
	"$differ projects ended with another status than without Sallyport, $lost were not tried"
[ "$refusals" = 0 ] && [ "$differ" = 0 ] && [ "$lost" = 0 ]
