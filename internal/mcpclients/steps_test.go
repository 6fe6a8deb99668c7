package mcpclients

// step is a call of a tool in a workspace that the calls before it have left.
type step struct {
	tool string
	args map[string]any
	// fails is for what the tool cannot do; then it must say so with isError.
	fails bool
	want  map[string]any // fields of the structured result
}

type object = map[string]any

// steps call every tool: each does what it is for, or says why not.
func steps() []step {
	refused := object{"effect": "deny", "ran": false}
	noShell := object{"shell_id": "none-such"}
	return []step{
		{tool: "execute_command", args: object{"command": "printf hello | tee greeting.txt"}, want: object{"success": true, "stdout": "hello", "exit_code": 0.0}},
		{tool: "execute_command", args: object{"command": "exit 3"}, want: object{"success": false, "exit_code": 3.0, "effect": "allow"}},
		{tool: "execute_command", args: object{"command": "rm -rf /"}, fails: true, want: refused},
		{tool: "execute_command", args: object{"command": "touch ../beside"}, fails: true, want: refused},
		{tool: "execute_command", args: object{"command": 7}, fails: true, want: object{"effect": "none"}},
		{tool: "execute_command", args: object{}, fails: true, want: object{"effect": "none"}},
		{tool: "check_command", args: object{"command": "rm -rf /"}, want: object{"would_run": false, "effect": "deny"}},
		{tool: "check_command", args: object{"command": "ls"}, want: object{"would_run": true, "effect": "allow"}},

		{tool: "write_file", args: object{"path": "src/a.py", "content": "def f():\n    \"\"\"Says what f does.\"\"\"\n"}, want: object{"success": true}},
		{tool: "write_file", args: object{"path": "../beside", "content": "x"}, fails: true, want: object{"success": false, "effect": "deny"}},
		{tool: "read_file", args: object{"path": "src/a.py"}, want: object{"success": true}},
		{
			tool: "edit_file",
			args: object{
				"path":  "src/a.py",
				"edits": []any{object{"old_text": "def f", "new_text": "def g"}},
			},
			want: object{"success": true},
		},
		{
			tool: "edit_file",
			args: object{
				"path":  "src/a.py",
				"edits": []any{object{"old_text": "def f", "new_text": "def g"}},
			},
			fails: true,
			want:  object{"success": false},
		},
		{tool: "list_directory", args: object{"path": "src"}, want: object{"success": true}},
		{tool: "search_files", args: object{"texts": []any{"def g"}}, want: object{"success": true}},
		{
			tool: "edit_file",
			args: object{
				"path":  "src/a.py",
				"edits": []any{object{"old_text": "def g", "new_text": "def f"}},
			},
			want: object{"success": true},
		},
		{tool: "read_file", args: object{"path": "src/none.py"}, fails: true, want: object{"success": false}},
		{tool: "read_docstring", args: object{"file_path": "src/a.py", "function_name": "f"}, want: object{"success": true}},
		{tool: "copy_file", args: object{"source_path": "src/a.py", "destination_path": "src/b.py"}, want: object{"success": true}},
		{tool: "copy_files_batch", args: object{"source_base_path": "src", "destination_base_path": "copy"}, want: object{"success": true}},
		{tool: "compare_files", args: object{"file1": "src/a.py", "file2": "src/b.py"}, want: object{"success": true}},
		{tool: "compare_directories", args: object{"dir1": "src", "dir2": "copy"}, want: object{"success": true}},
		{tool: "delete_file", args: object{"path": "unread.txt"}, fails: true, want: object{"effect": "deny"}},
		{tool: "delete_file", args: object{"path": "src/a.py"}, want: object{"success": true}},
		{tool: "delete_files_batch", args: object{"base_path": "copy"}, want: object{"success": true}},

		{tool: "start_background_shell", args: object{"command": "rm -rf /"}, fails: true, want: object{"success": false, "effect": "deny"}},
		{tool: "start_background_shell", args: object{"command": "sleep 300"}, want: object{"success": true, "status": "running"}},
		{tool: "list_background_shells", args: object{}, want: object{"success": true, "count": 0.0}}, // it ended with the server of that call
		{tool: "get_background_shell_status", args: noShell, fails: true, want: object{"success": false}},
		{tool: "get_background_shell_output", args: noShell, fails: true, want: object{"success": false}},
		{tool: "kill_background_shell", args: noShell, fails: true, want: object{"success": false}},
	}
}
