package mcpclients

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/live"
)

// planted are files by which a program of the user starts a command, and the program that reads them.
type planted struct {
	files map[string]string // below the workspace; RUN stands for the command
	start func(t *testing.T, p place)
}

// direct starts a program without a model.
func direct(words ...string) func(*testing.T, place) {
	return func(t *testing.T, p place) {
		t.Helper()
		p.run(t, "", words...) // it may fail on files that were held
	}
}

// obeying are programs that this machine may have.
func obeying(t *testing.T) map[string]planted {
	t.Helper()
	all := map[string]planted{
		"git": {map[string]string{
			"sub/.git/HEAD": "ref: refs/heads/main\n", "sub/.git/config": "[core]\n\tfsmonitor = \"RUN; false\"\n",
			"sub/.git/objects/x": "", "sub/.git/refs/x": "",
		}, direct("git", "-C", "sub", "status")},
		"direnv": {map[string]string{".envrc": "RUN\n"}, func(t *testing.T, p place) {
			t.Helper()
			p.setting(t, ".config/direnv/direnv.toml", "[whitelist]\nprefix = [\""+p.workspace+"\"]\n")
			direct("direnv", "exec", ".", "true")(t, p)
		}},
	}
	settings := map[string]map[string]string{
		"claude-code": {".claude/settings.json": `{"hooks": {"SessionStart": [{"hooks": [{"type": "command",
			"command": "RUN"}]}]}}`},
		"gemini": {".gemini/settings.json": `{"mcpServers": {"x": {"command": "sh", "args": ["-c", "RUN"]}}}`},
		"codex":  {".codex/config.toml": "[mcp_servers.x]\ncommand = \"sh\"\nargs = [\"-c\", \"RUN\"]\n"},
		"copilot": {".github/hooks/x.json": `{"version": 1, "hooks": {"sessionStart": [{"type": "command",
			"bash": "RUN"}]}}`},
		"opencode": {".opencode/plugins/x.js": "import {execSync} from \"child_process\"\n" +
			"export const X = async () => { execSync(\"RUN\"); return {} }\n"},
	}
	for _, a := range hooked(t) {
		all[a.name] = planted{settings[a.name], func(t *testing.T, p place) {
			t.Helper()
			switch a.name { // what a person grants a directory once
			case "codex":
				p.setting(t, ".codex/config.toml", "[projects.\""+p.workspace+"\"]\ntrust_level = \"trusted\"\n")
			case "copilot":
				p.setting(t, ".copilot/config.json", `{"trusted_folders": ["`+p.workspace+`"]}`)
			}
			p.driven(t, a, live.Script{Main: []live.Call{a.shell("true")}}, p.environ(t, a))
		}}
	}
	return all
}

// TestObeyed has sessions write files that programs of the user obey: by commands with the names in their
// text, by scripts that read the names from a file, and by the file tools. The programs start nothing of
// them. They obey the same files when a person wrote them.
func TestObeyed(t *testing.T) {
	t.Parallel()
	goSDK(t)
	for name, o := range obeying(t) {
		for way, plant := range map[string]func(*testing.T, place, string, map[string]string){
			"person": func(t *testing.T, p place, _ string, files map[string]string) {
				for at, text := range files {
					p.write(t, at, text)
				}
			},
			"command": func(t *testing.T, p place, from string, files map[string]string) {
				text := ""
				for at := range files {
					text += "mkdir -p " + filepath.Dir(at) + "; cat " + filepath.Join(from, at) + ".txt >" + at + "\n"
				}
				p.run(t, "", program, "exec", "-c", text)
			},
			"script": func(t *testing.T, p place, from string, files map[string]string) {
				list := ""
				for at := range files {
					list += at + "\n"
				}
				p.write(t, "list", list)
				p.write(t, "plant.sh", "while read -r at; do mkdir -p \"$(dirname \"$at\")\"; "+
					"cat \""+from+"/$at.txt\" >\"$at\"; done <list\n")
				p.mustRun(t, "", program, "exec", "--", "sh", "plant.sh")
			},
			"file tool": func(t *testing.T, p place, _ string, files map[string]string) {
				s := script{Revision: revisions[0]}
				for at, text := range files {
					s.Calls = append(s.Calls, sdkCall{Tool: "write_file", Arguments: map[string]any{
						"path": at, "content": text,
					}})
				}
				p.play(t, s)
			},
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				if name == "git" || name == "direnv" {
					leftout.Command(t, name)
				}
				p := newPlace(t)
				ran := filepath.Join(p.home, "ran")
				files := map[string]string{}
				for at, text := range o.files {
					files[at] = strings.ReplaceAll(text, "RUN", "touch "+ran)
					p.write(t, filepath.Join("from", at+".txt"), files[at])
				}
				plant(t, p, "from", files)
				o.start(t, p)
				if _, err := os.Stat(ran); errors.Is(err, fs.ErrNotExist) == (way == "person") {
					t.Errorf("the command ran: %v", err == nil)
				}
			})
		}
	}
}
