package filetools

import (
	"context"
	"fmt"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Bounds of the work and the result of compare_directories.
const (
	maxCompareSeen  = 100_000 // entries of both directories
	maxDirDiff      = 100     // lines of one file's diff
	maxDirDiffBytes = 1 << 20 // of all diffs
)

// CompareDirectoriesInput asks how two directories differ.
type CompareDirectoriesInput struct {
	Dir1            string   `json:"dir1" jsonschema:"the first directory, the old one"`
	Dir2            string   `json:"dir2" jsonschema:"the second directory, the new one"`
	ShowContentDiff bool     `json:"show_content_diff,omitempty" jsonschema:"show a diff of each text file that differs (default false)"`
	ExcludePatterns []string `json:"exclude_patterns,omitempty" jsonschema:"globs of files that are not compared, on the path relative to the directories; * crosses directories (default: nothing is left out)"`
}

// CompareDirectoriesDetails is how two directories differ. Names are relative to the directories, those
// of directories end with a slash. Each list has at most 1000 entries; counts are of all.
type CompareDirectoriesDetails struct {
	Dir1         string            `json:"dir1" jsonschema:"absolute"`
	Dir2         string            `json:"dir2" jsonschema:"absolute"`
	OnlyInDir1   []string          `json:"only_in_dir1"`
	OnlyInDir2   []string          `json:"only_in_dir2"`
	Different    []string          `json:"different" jsonschema:"in both, with other contents, another link target or another type"`
	Identical    []string          `json:"identical"`
	NotCompared  []Problem         `json:"not_compared" jsonschema:"files that could not be read, or have no contents"`
	ContentDiffs map[string]string `json:"content_diffs,omitempty" jsonschema:"unified diff of each text file that differs, at most 100 lines each"`
	Counts       CompareCounts     `json:"counts"`
}

// CompareCounts counts the findings of compare_directories.
type CompareCounts struct {
	OnlyInDir1  int `json:"only_in_dir1"`
	OnlyInDir2  int `json:"only_in_dir2"`
	Different   int `json:"different"`
	Identical   int `json:"identical"`
	NotCompared int `json:"not_compared"`
}

type compareDirs struct {
	in      CompareDirectoriesInput
	exclude patterns
	details CompareDirectoriesDetails
	ok      bool
}

// CompareDirectories compares two directories and all below them, by contents. Links are compared, not
// followed.
func CompareDirectories(in CompareDirectoriesInput) Tool { return &compareDirs{in: in} }

func (t *compareDirs) Plan(files facts.FS) (_ []facts.Touch, err error) {
	if t.in.Dir1, err = clean("dir1", t.in.Dir1); err != nil {
		return nil, err
	}
	if t.in.Dir2, err = clean("dir2", t.in.Dir2); err != nil {
		return nil, err
	}
	if t.exclude, err = parsePatterns("exclude_patterns", t.in.ExcludePatterns); err != nil {
		return nil, err
	}
	var out []facts.Touch
	for _, dir := range []string{t.in.Dir1, t.in.Dir2} {
		if _, err := lookBase(files, "compare", dir); err != nil {
			return nil, err
		}
		out = append(out, facts.Touch{Path: dir, Access: "read", Recursive: true})
	}
	return out, nil
}

func (t *compareDirs) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	t.details = CompareDirectoriesDetails{
		Dir1: paths[0].Path, Dir2: paths[1].Path, OnlyInDir1: []string{}, OnlyInDir2: []string{},
		Different: []string{}, Identical: []string{}, NotCompared: []Problem{},
	}
	if t.in.ShowContentDiff {
		t.details.ContentDiffs = map[string]string{}
	}
	r := dirRun{compareDirs: t, ctx: ctx, files: files, a: paths[0].Real, b: paths[1].Real,
		room: maxDirDiffBytes}
	if err := r.dir("", 0); err != nil {
		return fmt.Errorf("compare %s with %s: %w", t.in.Dir1, t.in.Dir2, err)
	}
	t.ok = true
	return nil
}

func (t *compareDirs) Result() Result {
	return Result{Operation: "compare_directories", Success: t.ok, Details: &t.details}
}
