package mcpserver

import (
	"github.com/sallyport-dev/sallyport/internal/filetools"
)

// fileTools lists the file tools. The instructions describe their common rules: every path is judged, a
// relative one starts at the workspace, and no link leads out of the granted places.
func fileTools() []tool {
	changes := hints{destructive: true}
	looks := hints{readOnly: true, idempotent: true}
	return []tool{
		fileTool[filetools.ReadFileInput, filetools.ReadFileDetails](described{
			"read_file", "Read a text file", "Read a text file, whole or some of its lines. What was read counts as read: it may be deleted later.", looks,
		}, filetools.ReadFile),
		fileTool[filetools.WriteFileInput, filetools.WriteFileDetails](described{
			"write_file", "Write a file", "Write a text file, whole or not at all; missing directories are made. An existing file is replaced unless overwrite is false.",
			hints{destructive: true, idempotent: true},
		}, filetools.WriteFile),
		fileTool[filetools.DeleteFileInput, filetools.DeleteFileDetails](described{
			"delete_file", "Delete a file or directory",
			"Delete a file, a link or a directory. What you have neither read nor created is refused: read it first. Use dry_run to see what would go.", changes,
		}, filetools.DeleteFile),
		batchTool[filetools.DeleteFilesBatchInput, filetools.DeleteSummary, filetools.DeleteFilesBatchDetails](described{
			"delete_files_batch", "Delete many files",
			"Delete the files below a directory that match patterns. Each one must have been read or created. Use dry_run first.", changes,
		}, filetools.DeleteFilesBatch),
		fileTool[filetools.CopyFileInput, filetools.CopyFileDetails](described{
			"copy_file", "Copy a file or directory", "Copy a file, or a directory with everything below it. Nothing is overwritten unless you say so.", changes,
		}, filetools.CopyFile),
		batchTool[filetools.CopyFilesBatchInput, filetools.CopySummary, filetools.CopyFilesBatchDetails](described{
			"copy_files_batch", "Copy many files", "Copy the files below a directory that match patterns, with their directories. Nothing is overwritten unless you say so.", changes,
		}, filetools.CopyFilesBatch),
		fileTool[filetools.CompareFilesInput, filetools.CompareFilesDetails](described{
			"compare_files", "Compare two files", "Compare two text files and show a unified diff. Both count as read.", looks,
		}, filetools.CompareFiles),
		fileTool[filetools.CompareDirectoriesInput, filetools.CompareDirectoriesDetails](described{
			"compare_directories", "Compare two directories", "Compare two directories and everything below them, by content.", looks,
		}, filetools.CompareDirectories),
		fileTool[filetools.ReadDocstringInput, filetools.ReadDocstringDetails](described{
			"read_docstring", "Read a Python docstring", "Read the documentation of a function, class or module of a Python source. The source is parsed, never imported or run.", looks,
		}, filetools.ReadDocstring),
	}
}
