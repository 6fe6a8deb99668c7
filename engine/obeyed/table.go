package obeyed

var groups = []Group{
	// Agents: settings, servers and hooks.
	{Kind: AgentConfig, Severity: High, Settings: true,
		Starts: "the servers and hooks that it names, with its next session", Files: []Files{
			{"Claude Code", `**/.claude/settings.json **/.claude/settings.local.json **/.claude/hooks/** ~/.claude.json
				/etc/claude-code/** **/claude_desktop_config.json`},
			{"Claude Code, GitHub Copilot CLI", "**/.mcp.json"},
			{"Codex", "**/.codex/config.toml **/.codex/hooks.json **/.codex/rules/** /etc/codex/**"},
			{"Gemini CLI", `**/.gemini/settings.json **/.gemini/policies/** **/.gemini/trustedFolders.json
				**/.gemini/extensions/** /etc/gemini-cli/**`},
			{"Qwen Code", "**/.qwen/settings.json"},
			{"Cursor", `**/.cursor/mcp.json **/.cursor/hooks.json **/.cursor/hooks/** **/.cursor/cli.json
				**/.cursor/cli-config.json **/.cursor/permissions.json **/.cursor/environment.json`},
			{"GitHub Copilot", `**/.vscode/mcp.json **/.vscode/hooks/** **/.github/hooks/**
				~/.copilot/config.json ~/.copilot/mcp-config.json ~/.copilot/hooks/**`},
			{"OpenCode", `**/opencode.json **/opencode.jsonc **/.opencode/plugin/** **/.opencode/plugins/**
				~/.config/opencode/plugin/** ~/.config/opencode/plugins/**`},
			{"Crush", "**/crush.json **/.crush.json"},
			{"Amp", "**/.amp/settings.json ~/.config/amp/settings.json"},
			{"Factory", "**/.factory/settings.json **/.factory/hooks.json **/.factory/mcp.json"},
			{"Windsurf", "**/.windsurf/mcp_config.json **/windsurf/mcp_config.json **/.windsurf/hooks.json"},
			{"Roo Code", "**/.roo/mcp.json"},
			{"Kilo Code", "**/.kilocode/mcp.json"},
			{"Amazon Q", "**/.amazonq/mcp.json **/.amazonq/cli-agents/**"},
			{"Kiro", "**/.kiro/hooks/** **/.kiro/agents/** **/settings/mcp.json"},
			{"Junie", "**/.junie/mcp/**"},
			{"Continue", "**/.continue/config.yaml **/.continue/config.json **/.continue/mcpServers/**"},
			{"goose", "**/.goose/config.yaml **/goose/config.yaml **/goose/permission.yaml"},
		}},
	{Kind: AgentConfig, Severity: High, Starts: "the test and lint commands that it names, after its next edit",
		Files: []Files{{"aider", "**/.aider.conf.yml"}}},

	// Agents: skills, commands and further agents, whose files may name hooks, servers and shell commands.
	{Kind: AgentConfig, Severity: High,
		Starts: "the hooks, servers and commands that it names, with its next session or use", Files: []Files{
			{"Claude Code", `**/.claude/skills/** **/.claude/agents/** **/.claude/commands/**
				**/.claude/plugins/**`},
			{"Codex", "**/.codex/agents/**"},
			{"Gemini CLI", "**/.gemini/commands/** **/.gemini/agents/**"},
			{"Qwen Code", "**/.qwen/commands/** **/.qwen/extensions/**"},
			{"GitHub Copilot", "**/.github/agents/** ~/.copilot/agents/**"},
			{"OpenCode", `**/.opencode/command/** **/.opencode/commands/** **/.opencode/tool/**
				**/.opencode/tools/** ~/.config/opencode/command/** ~/.config/opencode/commands/**
				~/.config/opencode/tool/** ~/.config/opencode/tools/**`},
			{"Factory", "**/.factory/commands/**"},
		}},

	// Agents: instructions.
	{Kind: AgentConfig, Severity: Low, Files: []Files{
		{"Claude Code", "**/.claude/** **/CLAUDE.md ~/.config/Claude/**"},
		{"Codex", "**/.codex/** **/AGENTS.md"},
		{"Gemini CLI", "**/.gemini/** **/GEMINI.md"},
		{"Cursor", "**/.cursor/** **/.cursorrules"},
		{"GitHub Copilot", "**/.github/copilot-instructions.md **/.github/instructions/** ~/.copilot/**"},
		{"Windsurf", "**/.windsurf/** **/.windsurfrules ~/.codeium/windsurf/**"},
		{"Cline", "**/.clinerules **/.clinerules/**"},
		{"Roo Code", "**/.roo/**"},
		{"Kilo Code", "**/.kilocode/**"},
		{"Continue", "**/.continue/**"},
		{"Amazon Q", "**/.amazonq/**"},
		{"goose", "**/.goose/** ~/.config/goose/**"},
		{"OpenCode", "~/.config/opencode/** **/.opencode/**"},
		{"Amp", "~/.config/amp/** **/.amp/**"},
		{"Crush", "~/.config/crush/**"},
		{"Factory", "**/.factory/**"},
		{"Qwen Code", "**/.qwen/**"},
		{"Kiro", "**/.kiro/**"},
		{"Junie", "**/.junie/**"},
	}},

	// Editors, debuggers and development containers.
	{Kind: EditorConfig, Severity: High,
		Starts: "the tasks and tools that it names, when somebody opens the directory", Files: []Files{
			{"VS Code", `**/.vscode/tasks.json **/.vscode/launch.json **/.vscode/settings.json **/*.code-workspace
				~/.config/Code/User/**`},
			{"Zed", "**/.zed/settings.json **/.zed/tasks.json **/.zed/debug.json"},
			{"a JetBrains IDE", "**/.idea/** **/.run/** ~/.ideavimrc"},
			{"Fleet", "**/.fleet/run.json **/.fleet/settings.json"},
			{"Sublime Text", "**/*.sublime-project"},
			{"a development container", "**/.devcontainer/** **/.devcontainer.json"},
			{"nano", "~/.nanorc"},
		}},
	{Kind: EditorConfig, Severity: High, Starts: "the commands in it, when it starts there", Files: []Files{
		{"Vim", "**/.exrc **/.vimrc **/.gvimrc ~/.vimrc ~/.vim/** ~/.exrc"},
		{"Neovim", "**/.nvimrc **/.nvim.lua ~/.config/nvim/**"},
		{"Emacs", "**/.dir-locals.el **/.dir-locals-2.el ~/.emacs ~/.emacs.d/** ~/.config/emacs/**"},
		{"gdb", "**/.gdbinit ~/.gdbinit"},
		{"lldb", "**/.lldbinit ~/.lldbinit"},
	}},
	{Kind: EditorConfig, Severity: Low, Files: []Files{{"VS Code", "**/.vscode/**"}}},

	// Programs that look at the directory in which a shell is.
	{Kind: DirectoryConfig, Severity: High,
		Starts: "its commands, when a shell enters the directory", Files: []Files{
			{"direnv", "**/.envrc ~/.config/direnv/**"},
			{"autoenv", "**/.autoenv **/.autoenv.zsh **/.env.leave"},
			{"mise", `**/mise.toml **/.mise.toml **/mise.local.toml **/.mise.local.toml **/.mise/config.toml
				**/mise/config.toml`},
		}},
	{Kind: DirectoryConfig, Severity: Medium, Starts: "the plugins that it names", Files: []Files{
		{"proto", "**/.prototools"},
	}},
	{Kind: DirectoryConfig, Severity: Low, Files: []Files{{"asdf, mise", "**/.tool-versions"}}},

	// Package managers and build tools, where a setting names a program.
	{Kind: PackageConfig, Severity: High,
		Starts: "the programs that it names, when it looks at the directory", Files: []Files{
			{"Cargo, rust-analyzer", "**/.cargo/config **/.cargo/config.toml"},
			{"R", "**/.Rprofile ~/.Rprofile"},
			{"irb, pry", "**/.irbrc **/.pryrc"},
		}},
	{Kind: PackageConfig, Severity: Medium,
		Starts: "the programs that it names, when somebody installs or builds", Files: []Files{
			{"npm, pnpm", "**/.npmrc"},
			{"pnpm", "**/.pnpmfile.cjs **/.pnpmfile.mjs"},
			{"Yarn", `**/.yarnrc **/.yarnrc.yml **/.yarn/releases/** **/.yarn/plugins/** **/.pnp.cjs
				**/.pnp.loader.mjs`},
			{"Bun", "**/bunfig.toml"},
			{"Bundler", "**/.bundle/config"},
			{"rustup", "**/rust-toolchain **/rust-toolchain.toml"},
			{"Maven", "**/.mvn/** **/maven-wrapper.properties"},
			{"Gradle", "**/gradle-wrapper.properties **/init.gradle **/init.gradle.kts"},
			{"Bazel", "**/.bazelrc **/tools/bazel"},
			{"pylint", "**/.pylintrc **/pylintrc"},
		}},

	// Frameworks for hooks.
	{Kind: HookConfig, Severity: Medium, Starts: "its hooks with a commit, merge or checkout", Files: []Files{
		{"pre-commit", "**/.pre-commit-config.yaml **/.pre-commit-hooks.yaml"},
		{"lefthook", `**/lefthook.yml **/.lefthook.yml **/lefthook-local.yml **/.lefthook-local.yml
			**/lefthook.yaml **/lefthook.toml **/lefthook.json **/.lefthook/** **/.lefthook-local/**`},
		{"Overcommit", "**/.overcommit.yml **/.git-hooks.yml"},
		{"simple-git-hooks", "**/.simple-git-hooks.json **/.simple-git-hooks.js **/.simple-git-hooks.cjs"},
		{"lint-staged", "**/.lintstagedrc **/.lintstagedrc.* **/lint-staged.config.*"},
	}},
	{Kind: GitHook, Severity: Medium, Starts: "its hooks with a commit, merge or checkout", Files: []Files{
		{"husky", "**/.husky/**"},
		{"git", "**/.githooks/** **/.git-hooks/**"},
	}},

	// Build pipelines.
	{Kind: CIConfig, Severity: Medium, Starts: "its jobs, with the rights of the project", Files: []Files{
		{"GitHub Actions", "**/.github/workflows/** **/.github/actions/**"},
		{"Forgejo Actions", "**/.gitea/workflows/** **/.forgejo/workflows/**"},
		{"GitLab CI", "**/.gitlab-ci.yml **/.gitlab-ci.yaml **/.gitlab/ci/**"},
		{"CircleCI", "**/.circleci/**"},
		{"Jenkins", "**/Jenkinsfile"},
		{"Azure Pipelines", "**/azure-pipelines.yml **/azure-pipelines.yaml"},
		{"Travis CI", "**/.travis.yml"},
		{"Drone", "**/.drone.yml"},
		{"Bitbucket Pipelines", "**/bitbucket-pipelines.yml"},
		{"Buildkite", "**/.buildkite/**"},
		{"Woodpecker CI", "**/.woodpecker/** **/.woodpecker.yml **/.woodpecker.yaml"},
		{"Cirrus CI", "**/.cirrus.yml **/.cirrus.star"},
		{"AppVeyor", "**/appveyor.yml **/.appveyor.yml"},
		{"Semaphore", "**/.semaphore/**"},
		{"TeamCity", "**/.teamcity/**"},
		{"Tekton", "**/.tekton/**"},
		{"Google Cloud Build", "**/cloudbuild.yaml **/cloudbuild.yml"},
		{"AWS CodeBuild", "**/buildspec.yml **/buildspec.yaml"},
	}},

	// Version control.
	{Kind: GitHook, Severity: High, Starts: "its hooks", Files: []Files{{"git", "**/.git/hooks/**"}}},
	{Kind: GitConfig, Severity: High, Starts: "the programs that it names, even with git status", Files: []Files{
		{"git", `**/.git/config **/.git/config.worktree **/.git/commondir ~/.gitconfig ~/.config/git/**
			/etc/gitconfig`},
		{"git rebase --continue", "**/rebase-merge/git-rebase-todo"},
		{"Mercurial", "**/.hg/hgrc ~/.hgrc"},
		{"Jujutsu", "**/.jj/repo/** ~/.config/jj/**"},
	}},
	{Kind: GitConfig, Severity: Medium,
		Starts: "the filters of the user's configuration for the files that it names", Files: []Files{
			{"git", "**/info/attributes"},
		}},
	{Kind: GitConfig, Severity: Low, Files: []Files{{"git", "**/.gitmodules"}}},

	{Kind: DirectoryConfig, Severity: High, Starts: "the code in it, at each start", Files: []Files{
		{"Python", "**/site-packages/*.pth **/dist-packages/*.pth **/sitecustomize.py **/usercustomize.py"},
	}},

	// Shells and sessions.
	{Kind: ShellStartup, Severity: High, Starts: "the commands in it", Files: []Files{
		{"every new shell", `~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.profile
			~/.zshrc ~/.zshenv ~/.zprofile ~/.zlogin ~/.zlogout ~/.kshrc ~/.cshrc ~/.tcshrc ~/.inputrc
			~/.config/fish/** ~/.oh-my-zsh/** /etc/profile /etc/profile.d/** /etc/bash.bashrc /etc/bashrc /etc/zsh/**
			/etc/zshrc /etc/zshenv /etc/environment /etc/csh.cshrc`},
		{"every new session", `~/.xinitrc ~/.xprofile ~/.xsession ~/.xsessionrc ~/.pam_environment
			~/.config/autostart/** ~/.config/environment.d/** /etc/rc.local /etc/X11/xinit/** /etc/xdg/autostart/**
			/etc/update-motd.d/**`},
		{"every interactive Python", "~/.pythonrc"},
	}},
}
