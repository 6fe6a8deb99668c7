#!/usr/bin/env bash
# Records a terminal session as an animated SVG, for README:
#   docs/recording.sh path/to/sallyport > docs/pictures/recording.svg
# The commands run in a temporary folder that is removed at the end. A test compares the picture with a new
# recording.
set -euo pipefail

sallyport=$(realpath "${1:?usage: docs/recording.sh path/to/sallyport}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME="$scratch/ann" PATH="$(dirname "$sallyport"):$PATH" NO_COLOR=1
unset SALLYPORT_CONFIG XDG_STATE_HOME XDG_CONFIG_HOME
mkdir -p "$HOME/project" && cd "$HOME/project"
printf '%s\n' 'test "$((6 * 7))" = 42 && echo "area: ok"' > test.sh

record() {
  local command
  while IFS= read -r command; do
    printf '$ %s\n' "$command"
    bash -c "$command" 2>&1 </dev/null || true # a refusal has a status of its own
  done | sed "s|$scratch|/home|g"
}

# Each line is hidden until its time has come. Without animations, all of them are visible.
style='
  rect { fill: #f6f8fa; stroke: #d0d7de }
  text { font: 13px monospace; fill: #1f2328; animation-name: wait }
  .in { font-weight: bold } .no { fill: #cf222e } .yes { fill: #1a7f37 }
  @keyframes wait { from, to { opacity: 0 } }
  @media (prefers-reduced-motion: reduce) { text { animation-name: none } }
  @media (prefers-color-scheme: dark) {
    rect { fill: #161b22; stroke: #30363d }
    text { fill: #e6edf3 } .no { fill: #ff7b72 } .yes { fill: #3fb950 }
  }'

draw() {
  local lines kind seconds=0 columns=0 i text before=""
  mapfile -t lines
  for text in "${lines[@]}"; do [ "${#text}" -le "$columns" ] || columns=${#text}; done
  local width=$((columns * 79 / 10 + 32)) height=$((${#lines[@]} * 19 + 24))
  printf '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">\n' "$width" "$height"
  printf '<title>A recorded session</title>\n<style>%s\n</style>\n' "$style"
  printf '<rect x="1" y="1" width="%d" height="%d" rx="8"/>\n' $((width - 2)) $((height - 2))
  for i in "${!lines[@]}"; do
    text=${lines[i]} kind=out
    case $text in '$ '*) kind=in; seconds=$((seconds + 2)) ;; *) [ "${before:0:2}" != '$ ' ] || seconds=$((seconds + 1)) ;; esac
    case $text in *^^* | *denied* | deny*) kind=no ;; allow* | area* | verdict*) kind=yes ;; esac
    before=$text
    text=$(sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' <<<"$text")
    printf '<text class="%s" x="16" y="%d" xml:space="preserve"' "$kind" $((i * 19 + 29))
    printf ' style="animation-duration: %ds">%s</text>\n' "$seconds" "$text"
  done
  echo '</svg>'
}

record <<'END' | draw
sallyport exec -- bash test.sh
sallyport check -c 'X=rm; $X -rf ~/notes'
sallyport exec -c 'git push --force origin main'
sallyport exec -c 'echo c3VkbyBpZAo= | base64 -d | sh'
sallyport audit list --kind decision
sallyport audit verify | tail -n 1
END
