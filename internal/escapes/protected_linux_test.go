package escapes

import (
	"fmt"
	"os"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// detached is what stops a try when the host has put something else in the place of what is mounted.
const detached = "the mounts are looked at before each request: where one is gone, the environment is made anew"

// held stops a try to make a file that is not there yet.
const held = "held at the end of the command"

// replaceConfig does what git does when it changes its config: another file takes its name.
func replaceConfig(w *world) error {
	lock := w.workspace + "/.git/config.lock"
	if err := os.WriteFile(lock, []byte("[core]\n\thooksPath = .githooks\n[user]\n\tname = x\n"), 0o666); err != nil {
		return err
	}
	if err := os.Chmod(lock, 0o666); err != nil { // whatever the umask says
		return err
	}
	return os.Rename(lock, w.workspace+"/.git/config")
}

func replaceHooks(w *world) error {
	hooks := w.workspace + "/.git/hooks"
	if err := os.Rename(hooks, hooks+".old"); err != nil {
		return err
	}
	if err := os.Mkdir(hooks, 0o777); err != nil {
		return err
	}
	return os.Chmod(hooks, 0o777) // whatever the umask says
}

// protected are tries to leave in the workspace what a program of the host runs later.
func protected() []try {
	hook := func(git string) string {
		return `mkdir -p ` + git + `/hooks; printf '#!/bin/sh\n' >` + git + `/hooks/pre-commit; chmod +x ` + git + `/hooks/pre-commit`
	}
	return []try{
		{name: "write a hook", text: hook(".git"), bubblewrap: readOnly, docker: readOnly},
		{name: "change a hook that is there", text: `echo x >>.git/hooks/post-checkout`, bubblewrap: readOnly, docker: readOnly},
		{name: "make a hook that is there one that runs", text: `chmod +x .git/hooks/sleeping`, bubblewrap: readOnly, docker: readOnly},
		{name: "rename .git and make another", text: `mv .git aside; ` + hook(".git"), bubblewrap: "a mount point cannot be renamed", docker: "a mount point cannot be renamed"},
		{name: "rename the hooks", text: `mv .git/hooks .git/aside; ` + hook(".git"), bubblewrap: "a mount point cannot be renamed", docker: "a mount point cannot be renamed"},
		{name: "remove .git and make another", text: `rm -rf .git; ` + hook(".git"), bubblewrap: "a mount point cannot be removed", docker: "a mount point cannot be removed"},
		{name: "rename what .git is in", text: `mv nested aside; ` + hook("nested/.git"), bubblewrap: "what holds a mount point cannot be renamed", docker: "what holds a mount point cannot be renamed"},
		{name: "core.hooksPath", text: `printf '[core]\n\thooksPath = /tmp\n' >>.git/config`, bubblewrap: readOnly, docker: readOnly},
		{name: "core.fsmonitor, by a new file in place of the config", text: `printf '[core]\n\tfsmonitor = ./x\n' >new; mv -f new .git/config || cp -f new .git/config; rm -f new`, bubblewrap: readOnly, docker: readOnly},
		{name: "config by git's own lock file", text: `cp .git/config .git/config.lock && echo x >>.git/config.lock; mv -f .git/config.lock .git/config; rm -f .git/config.lock`, bubblewrap: "a mount point cannot be replaced", docker: "a mount point cannot be replaced"},
		{name: "another config by commondir",
			text:       `mkdir -p evil; printf '../evil\n' >.git/commondir`,
			bubblewrap: held, docker: held},
		{name: "config.worktree",
			text:       `printf '[core]\n\tfsmonitor = ./x\n' >.git/config.worktree`,
			bubblewrap: held, docker: held},
		{name: "attributes of the repository",
			text:       `mkdir -p .git/info && echo '* filter=x' >.git/info/attributes`,
			bubblewrap: held, docker: held},
		{name: "hooks where core.hooksPath says", text: `printf '#!/bin/sh\n' >.githooks/pre-commit; chmod +x .githooks/pre-commit`, bubblewrap: readOnly, docker: readOnly},
		{name: "a hook of a repository inside", text: hook("nested/.git"), bubblewrap: readOnly, docker: readOnly},
		{name: "config of a repository inside", text: `echo x >>nested/.git/config`, bubblewrap: readOnly, docker: readOnly},
		{name: "a hook of a submodule", text: hook(".git/modules/sub"), bubblewrap: readOnly, docker: readOnly},
		{name: "config of a submodule", text: `echo x >>.git/modules/sub/config`, bubblewrap: readOnly, docker: readOnly},
		{name: "lead a worktree to another repository", text: `mkdir -p evil/hooks; echo "gitdir: $WS/evil" >tree/.git`, bubblewrap: readOnly, docker: readOnly},
		{name: "replace the file that leads a worktree", text: `mkdir -p evil; echo "gitdir: $WS/evil" >new; mv -f new tree/.git; rm -f new`, bubblewrap: "a mount point cannot be replaced", docker: "a mount point cannot be replaced"},
		{name: "lead a worktree to another config", text: `mkdir -p evil; echo "$WS/evil" >.git/worktrees/tree/commondir`, bubblewrap: readOnly, docker: readOnly},
		{name: "config, after git on the host has replaced it", host: replaceConfig, text: `printf '[core]\n\tfsmonitor = ./x\n' >>.git/config`, bubblewrap: detached, docker: detached},
		{name: "config by the file tools, after git on the host has replaced it", host: replaceConfig, tool: func(s *site, f engine.Files) string {
			_, err := f.Write(s.workspace+"/.git/config", strings.NewReader("[core]\n\tfsmonitor = ./x\n"), engine.WriteOptions{Replace: true})
			return fmt.Sprint(err)
		}, bubblewrap: detached, docker: detached},
		{name: "a hook, after the host has replaced all hooks", host: replaceHooks, text: hook(".git"), bubblewrap: detached, docker: detached},
		{name: "tasks of an editor", text: `mkdir -p .vscode; echo '{}' >.vscode/tasks.json`, bubblewrap: readOnly, docker: readOnly},
		{name: "rename the settings of an editor", text: `mv .vscode aside; mkdir -p .vscode; echo '{}' >.vscode/tasks.json`, bubblewrap: "a mount point cannot be renamed", docker: "a mount point cannot be renamed"},
		{name: "settings of an editor that are not there yet",
			text:       `mkdir -p .idea; echo x >.idea/workspace.xml`,
			bubblewrap: held, docker: held},
		{name: "settings of an editor, moved into place",
			text:       `mkdir x; echo x >x/workspace.xml; mv x .idea`,
			bubblewrap: held, docker: held},
		{name: "settings of an editor by a link",
			text:       `mkdir x; echo x >x/workspace.xml; ln -s x .idea`,
			bubblewrap: held, docker: held},
		{name: "settings of an agent, deep in the workspace",
			text:       `mkdir -p deep/down/.claude; echo '{}' >deep/down/.claude/settings.json`,
			bubblewrap: held, docker: held},
		{name: "a hook of a new repository", text: hook("fresh/.git"), bubblewrap: held, docker: held},
		{name: "names from a file",
			text:       `echo .envrc >list; xargs -I{} sh -c 'echo "touch x" >{}' <list`,
			bubblewrap: held, docker: held},
		{name: "servers of an agent", text: `echo '{}' >.mcp.json`, bubblewrap: readOnly, docker: readOnly},
		{name: "settings of an agent",
			text:       `mkdir -p .claude; echo '{}' >.claude/settings.json`,
			bubblewrap: held, docker: held},
		{name: "direnv", text: `echo 'touch x' >.envrc`, bubblewrap: held, docker: held},
		{name: "a place that the operator protects", text: `echo x >locked/new; echo x >>locked/file; rm -f locked/file`, bubblewrap: readOnly, docker: readOnly},
		{name: "rename what holds a protected place", text: `mv deep aside; mkdir -p deep/locked; echo x >deep/locked/file`, bubblewrap: "what holds a mount point cannot be renamed", docker: "what holds a mount point cannot be renamed"},
		{name: "another name for a protected file", text: `ln locked/file other && echo x >>other; rm -f other`, bubblewrap: "another mount: EXDEV", docker: "another mount: EXDEV"},
		{name: "a link in place of a protected place", text: `mkdir -p evil; mv locked aside; ln -sfn evil locked`, bubblewrap: "a mount point cannot be renamed", docker: "a mount point cannot be renamed"},
		{name: "a protected place that is not there yet",
			text:       `mkdir -p later; echo x >later/file`,
			bubblewrap: held, docker: held},
	}
}
