package facts

// shellRows: builtins of the shell.
var shellRows = []row{
	{cmd: "cd pushd chdir", does: "read", args: "read?"},
	{cmd: ": (( function true false pwd popd dirs break continue return exit logout shift times getopts hash type which whereis whatis apropos unalias alias local let shopt bind suspend caller compgen complete compopt unset help trap enable autoload setopt unsetopt bindkey zmodload zstyle abbr functions rehash emulate compdef", args: "-"},
	{cmd: "export declare typeset readonly set", args: "-"},
	{cmd: "echo print", style: styleNone, args: "-"},
	{cmd: "printf", style: styleNone, args: "-"},
	{cmd: "read readarray mapfile", args: "-", opts: "-a -d -i -n -N -p -t -u =-"},
	{cmd: "printenv", does: "", args: "-", hook: printenv},
	{cmd: "history fc", does: "read", args: "-"},
	{cmd: "source .", does: "execute", args: "-"},
	{cmd: "eval", does: "execute", style: styleNone, args: "-"},
}

// interpreterRows: programs that run code. What they run is opened by the shell walk; here
// stand their options, so that the script is told from its arguments.
var interpreterRows = []row{
	{cmd: "bash sh dash zsh ksh ash mksh fish yash csh tcsh rbash oksh elvish nu xonsh rc pdksh ion osh ysh murex", does: "execute", args: "-|,auto", opts: "-c =- > @stop; -o -O =-; --rcfile --init-file =read"},
	{cmd: "python python2 python3 pypy pypy3 ipython ipython3 bpython ptpython micropython jython", does: "execute", args: "-|,auto", opts: "-c =- > @stop; -m =- > @stop; -W =-; -X =-; --check-hash-based-pycs =-", hook: pythonModule},
	{cmd: "perl perl5 perl6 raku", does: "execute", args: "-|,auto", opts: "-e -E =- > @first; -I =-; -M -m =-; -i =?- > in_place write; -0 -l -C -F -x -D =?-", hook: perlInPlace},
	{cmd: "ruby irb jruby truffleruby mruby", does: "execute", args: "-|,auto", opts: "-e =- > @first; -I =-; -r =-; -C =dir; -i =?- > in_place write; -E -K -x -0 -F =?-", hook: perlInPlace},
	{cmd: "node nodejs iojs tsx ts-node", does: "execute", args: "-|,auto", hook: nodeModule, opts: "-e --eval -p --print =- > @stop; -r --require --import --loader --experimental-loader =-; --inspect --inspect-brk --inspect-wait =?- > listens; -C --conditions =-; --env-file =read; --max-old-space-size --stack-size --input-type --title =-"},
	{cmd: "deno", sub: "run,eval,test,fmt,lint,compile,bundle,cache,check,info,doc,repl,task,bench,init,serve,add,remove,outdated,types,upgrade,completions,jupyter,vendor,coverage", does: "execute network downloads", args: "auto"},
	{cmd: "deno", sub: "install,publish,deploy", does: "network downloads package_install", args: "auto", hook: npmPublish},
	{cmd: "php php-cgi hhvm", does: "execute", args: "-|,auto", hook: scriptTask, opts: "-r -B -R -E =- > @stop; -f --file =exec; -F =exec; -d =-; -c =read; -z =read; -S =- > network listens; -t =read"},
	{cmd: "lua luajit luac lua5.1 lua5.3 texlua", does: "execute", args: "-|,auto", opts: "-e =-; -l =-; -o =write"},
	{cmd: "java", does: "execute", args: "-|,auto", style: styleLong, hook: javaClient, opts: "-jar =exec > @stop; -cp -classpath --class-path -p --module-path =-; -m --module =-; --add-modules --add-opens --add-exports =-; -Xmx -Xms =?-; -agentpath -javaagent =?-"},
	{cmd: "Rscript R julia octave matlab scilab maxima gap sage racket guile clojure clj bb scala groovy jshell erl elixir iex swipl sbcl clisp ecl gforth tclsh wish expect osascript pwsh powershell cmd wscript cscript mshta rundll32 regsvr32 wine box64 qemu-x86_64 qemu-aarch64 wasmtime wasmer wasm3 janet fennel haxe j apl ld.so ld-linux.so ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux gst gjs qjs quickjs jsc mujs duk osqueryi iverilog vvp verilator ngspice yosys simh pdp11 dosbox scummvm", does: "execute", args: "-|,auto", opts: "-e -E --eval -c --command =- > @stop; -f --file =exec"},
	{cmd: "bc dc calc units expr seq factor numfmt jot qalc", args: "-", hook: bcFiles, opts: "-e --expression =-; -f --file =read; -S =?-"},
}

// harmlessRows: commands that change nothing and tell little.
var harmlessRows = []row{
	{cmd: "yes clear reset tput banner figlet toilet cowsay fortune lolcat cmatrix beep notify-send zenity dialog whiptail kdialog tset scriptreplay asciinema man info tldr cheat cht.sh mdless glow fzf sk peco gum dmenu rofi xclip xsel pbcopy pbpaste wl-copy wl-paste uuidgen uuid pwgen mcookie mkpasswd getopt tabs setterm resize starship direnv zoxide z autojump thefuck autoenv broot ranger nnn lf vifm yazi testparm ipcalc sipcalc toe tic infocmp dircolors ascii chroma pygmentize highlight source-highlight licensee onefetch vivid termgraph spark asciiquarium pipes progress cv mbuffer buffer", args: "-"},
	{cmd: "huggingface-cli hf kaggle modelscope replicate", does: "network downloads", args: "auto", hook: publishWord},
	{cmd: "lp lpr lpq lprm lpstat cancel cupsenable", does: "system", args: "read"},
	{cmd: "xdotool wmctrl xrandr xset xprop xwininfo xinput setxkbmap import scrot gnome-screenshot maim flameshot screencapture xmodmap gsettings dconf gconftool kwriteconfig5 xdg-mime xdg-settings feh eog evince zathura okular firefox google-chrome chromium chromium-browser brave microsoft-edge opera safari xeyes xclock xterm gnome-terminal konsole alacritty kitty wezterm terminator tilix urxvt st foot osxphotos", does: "execute", args: "auto", opts: "-e -x =- > escape"},
}
