#!/usr/bin/env bash
# A short tour with real commands, in a temporary folder that is removed at the end:
#   docs/demo.sh path/to/sallyport
# Needs no configuration, no network and no Docker. What is refused here would do little if it ran:
# the point is to see it refused.
set -uo pipefail

sallyport=$(realpath "${1:?usage: docs/demo.sh path/to/sallyport}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME="$scratch/home" XDG_STATE_HOME="$scratch/state" XDG_CONFIG_HOME="$scratch/config"
unset SALLYPORT_CONFIG
mkdir -p "$HOME/project" && cd "$HOME/project" || exit 1

cat > area.py <<'PY'
def area(width, height):
    return width * height
PY
cat > test_area.py <<'PY'
import unittest
from area import area

class AreaTest(unittest.TestCase):
    def test_area(self):
        self.assertEqual(area(6, 7), 42)

if __name__ == "__main__":
    unittest.main()
PY
printf '%s\n' 'test "$((6 * 7))" = 42 && echo "area: ok"' > test.sh

if ! XDG_STATE_HOME=$scratch/trial "$sallyport" exec -- true >/dev/null 2>&1; then
  printf 'No sandbox can be made here (sallyport doctor), so this tour sets local.sandbox to none.\n\n'
  mkdir -p "$XDG_CONFIG_HOME/sallyport"
  printf 'version: 1\nlocal: {sandbox: none}\n' >"$XDG_CONFIG_HOME/sallyport/config.yaml"
fi

failed=0
# show EXIT WORDS…: run sallyport with WORDS, show it as a person would type it, and expect EXIT.
show() {
  local want=$1 got; shift
  printf '\n$ sallyport'; printf ' %s' "${@@Q}" | sed -E "s/'([A-Za-z0-9_./:=-]+)'/\1/g"; printf '\n'
  "$sallyport" "$@" 2>&1; got=$?
  [ "$got" = 0 ] || printf '(exit %s)\n' "$got"
  [ "$got" = "$want" ] || { printf 'demo: expected exit %s\n' "$want" >&2; failed=1; }
}

echo "1. Ordinary work runs."
if command -v python3 >/dev/null; then
  show 0 exec -- python3 -m unittest -v
else
  show 0 exec -- bash test.sh
fi

echo
echo "2. What is dangerous is refused, with the reason and a way forward."
show 126 exec -c 'sudo id'

echo
echo "3. So is the same thing where no pattern would see it: nothing here spells the word."
show 126 exec -c 'a=su b=do; echo "${a}${b} id" | base64 | base64 -d | sh'
show 3 check -c 'cd / && r\m -fr "$PWD"*'

echo
echo "4. Everything is logged, and tampering shows."
show 0 audit list
show 0 audit verify

exit "$failed"
