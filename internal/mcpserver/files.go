package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/filetools"
)

// fileResult is the result of a file tool: one envelope for all of them, with Details of its own.
type fileResult[Details any] struct {
	Success   bool     `json:"success"`
	Operation string   `json:"operation"`
	Details   *Details `json:"details,omitempty" jsonschema:"The results; absent when nothing was done."`
	Error     string   `json:"error,omitempty" jsonschema:"The reason of the refusal, or the error."`
	verdict
}

// batchResult is fileResult of a tool for many files.
type batchResult[Summary, Details any] struct {
	Success   bool     `json:"success" jsonschema:"False when nothing was done."`
	Operation string   `json:"operation"`
	Summary   *Summary `json:"summary,omitempty"`
	Details   *Details `json:"details,omitempty" jsonschema:"The results by file; absent when nothing was done."`
	Error     string   `json:"error,omitempty" jsonschema:"The reason of the refusal, or the error."`
	verdict
}

// described is the description of a file tool for clients.
type described struct {
	name, title, about string
	hints              hints
}

// fileTool makes a tool of a file operation. Its arguments are the fields of In.
func fileTool[In, Details any](d described, operation func(In) filetools.Tool) tool {
	return operationTool(d, operation, fileResult[Details]{},
		func(done filetools.Result, failure string, v verdict) result {
			details, _ := done.Details.(*Details)
			return fileResult[Details]{Success: failure == "" && done.Success, Operation: d.name, Details: details,
				Error: failure, verdict: v}
		})
}

// batchTool is fileTool for many files.
func batchTool[In, Summary, Details any](d described, operation func(In) filetools.Tool) tool {
	return operationTool(d, operation, batchResult[Summary, Details]{},
		func(done filetools.Result, failure string, v verdict) result {
			details, _ := done.Details.(*Details)
			r := batchResult[Summary, Details]{Success: failure == "" && done.Success, Operation: d.name,
				Details: details, Error: failure, verdict: v}
			if s, ok := done.Summary.(Summary); ok {
				r.Summary = &s
			}
			return r
		})
}

// operationTool is the common form of file tools: arguments into an operation, the operation through the
// gate, and its result for the client.
func operationTool[In any](d described, operation func(In) filetools.Tool, output any,
	answer func(filetools.Result, string, verdict) result) tool {
	refuse := func(_ *call, why string) result { return answer(filetools.Result{}, why, undecided()) }
	return tool{
		name: d.name, title: d.title, about: d.about, hints: d.hints, set: setFiles,
		params: paramsOf(reflect.TypeFor[In]()), output: output, refuse: refuse,
		run: func(ctx context.Context, c *call) result {
			var in In
			if err := c.args.into(&in); err != nil {
				return refuse(c, fmt.Sprintf("Invalid arguments for %s: %v.", d.name, err))
			}
			if read, ok := any(in).(filetools.ReadFileInput); ok && strings.HasPrefix(read.Path, outputName) {
				return c.server.readOutput(read)
			}
			op := operation(in)
			p := c.follow(ctx, &tails{})
			out, err := c.server.o.Gate.Do(ctx, engine.Request{Tool: d.name, Operation: op, Subject: c.subject})
			p.stop()
			if err != nil {
				return refuse(c, requestText(err))
			}
			c.remember(out)
			v := c.verdictOf(out)
			if !out.Ran {
				return answer(filetools.Result{}, c.refusalText(out), v)
			}
			return answer(op.Result(), failureText(out), v)
		},
	}
}

// failureText describes the failure of an operation that ran, "" for none.
func failureText(out engine.Outcome) string {
	e := out.Exit
	switch {
	case out.Fault != nil:
		return "It was done. " + faultText(out.Fault)
	case e.TimedOut:
		return "It was ended at its timeout; the details say how far it came."
	case e.Killed != "":
		return "It was ended: " + e.Killed + "; the details say how far it came."
	case e.Error != nil:
		return upperFirst(e.Error.Error())
	}
	return ""
}

// into puts arguments into the input struct of an operation. They have been checked against that very
// struct's fields.
func (a arguments) into(in any) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, in)
}

func (r fileResult[Details]) failed() bool { return !r.Success }

func (r fileResult[Details]) mirror() string {
	return fileMirror(r.Operation, r.Success, r.Error, nil, pointee(r.Details), r.verdict)
}

func (r batchResult[Summary, Details]) failed() bool { return !r.Success }

func (r batchResult[Summary, Details]) mirror() string {
	return fileMirror(r.Operation, r.Success, r.Error, pointee(r.Summary), pointee(r.Details), r.verdict)
}

// pointee returns the value that a pointer points at, or nil.
func pointee[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// fileMirror writes the result of a file tool.
func fileMirror(operation string, success bool, failure string, summary, details any, v verdict) string {
	var p page
	switch {
	case success && dryRun(details):
		p.line("%s: DRY RUN, nothing was changed", operation)
	case success:
		p.line("%s: done", operation)
	case v.Effect == undecided().Effect:
		p.line("%s: FAILED, nothing was done", operation)
	case v.Effect == string(engine.Allow) || v.Mode == string(engine.Monitor) || v.Approval != nil &&
		v.Approval.Granted:
		p.line("%s: FAILED", operation)
	default:
		p.line("%s: REFUSED, nothing was done", operation)
	}
	if failure != "" {
		p.line("%s", failure)
	}
	p.verdict(v)
	p.describe(summary)
	p.describe(details)
	return p.text()
}

// fileTools lists the file tools. The instructions describe their common rules: every path is judged, a
// relative one starts at the workspace, and no link leads out of the granted places.
func fileTools() []tool {
	changes := hints{destructive: true}
	looks := hints{readOnly: true, idempotent: true}
	return []tool{
		fileTool[filetools.ReadFileInput, filetools.ReadFileDetails](described{
			"read_file", "Read a text file", "Read a text file, whole or some of its lines. What was " +
				"read counts as read: it may be deleted later.", looks,
		}, filetools.ReadFile),
		fileTool[filetools.WriteFileInput, filetools.WriteFileDetails](described{
			"write_file", "Write a file", "Write a text file, whole or not at all; missing directories " +
				"are made. An existing file is replaced unless overwrite is false.",
			hints{destructive: true, idempotent: true},
		}, filetools.WriteFile),
		fileTool[filetools.EditFileInput, filetools.EditFileDetails](described{
			"edit_file", "Change parts of a file",
			"Replace literal texts in a text file, all or none. Each old_text must occur exactly once; an " +
				"empty one makes a new file.",
			changes,
		}, filetools.EditFile),
		fileTool[filetools.ListDirectoryInput, filetools.ListDirectoryDetails](described{
			"list_directory", "List a directory",
			"List the entries of a directory, or of a tree of some depth, with their kinds and sizes.", looks,
		}, filetools.ListDirectory),
		fileTool[filetools.SearchFilesInput, filetools.SearchFilesDetails](described{
			"search_files", "Search text in files",
			"Find the lines of text files that contain a literal text. It leaves out hidden files and " +
				"those that .gitignore names. For regular expressions use a command.",
			looks,
		}, filetools.SearchFiles),
		fileTool[filetools.DeleteFileInput, filetools.DeleteFileDetails](described{
			"delete_file", "Delete a file or directory",
			"Delete a file, a link or a directory. What you have neither read nor created is refused: " +
				"read it first. Use dry_run to see what would go.", changes,
		}, filetools.DeleteFile),
		batchTool[filetools.DeleteFilesBatchInput, filetools.DeleteSummary,
			filetools.DeleteFilesBatchDetails](described{
			"delete_files_batch", "Delete many files",
			"Delete the files below a directory that match patterns. Each one must have been read or " +
				"created. Use dry_run first.", changes,
		}, filetools.DeleteFilesBatch),
		fileTool[filetools.CopyFileInput, filetools.CopyFileDetails](described{
			"copy_file", "Copy a file or directory",
			"Copy a file, or a directory with everything below it. Nothing is overwritten unless you say so.",
			changes,
		}, filetools.CopyFile),
		batchTool[filetools.CopyFilesBatchInput, filetools.CopySummary,
			filetools.CopyFilesBatchDetails](described{
			"copy_files_batch", "Copy many files",
			"Copy the files below a directory that match patterns, with their directories. Nothing is " +
				"overwritten unless you say so.", changes,
		}, filetools.CopyFilesBatch),
		fileTool[filetools.CompareFilesInput, filetools.CompareFilesDetails](described{
			"compare_files", "Compare two files", "Compare two text files and show a unified diff. Both " +
				"count as read.", looks,
		}, filetools.CompareFiles),
		fileTool[filetools.CompareDirectoriesInput, filetools.CompareDirectoriesDetails](described{
			"compare_directories", "Compare two directories",
			"Compare two directories and everything below them, by content.", looks,
		}, filetools.CompareDirectories),
		fileTool[filetools.ReadDocstringInput, filetools.ReadDocstringDetails](described{
			"read_docstring", "Read a Python docstring",
			"Read the documentation of a function, class or module of a Python source. The source is " +
				"parsed, never imported or run.", looks,
		}, filetools.ReadDocstring),
	}
}
