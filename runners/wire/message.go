package wire

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// The purposes of a stream.
const (
	forCalls   = "calls"
	forProcess = "process"
	forOutput  = "output"
	forInput   = "input"
)

// opening is the first frame of a stream.
type opening struct {
	For     string `json:"for"`
	Process uint64 `json:"process,omitempty"` // number of the process, of process, output and input
	Stderr  bool   `json:"stderr,omitempty"`  // of output: standard error
}

// order is a message of sallyport on a process stream: first start, then any of the others.
type order struct {
	Start  *start        `json:"start,omitempty"`
	Kill   *exact        `json:"kill,omitempty"` // the reason
	Signal engine.Signal `json:"signal,omitempty"`
	Resize *size         `json:"resize,omitempty"`
	Show   bool          `json:"show,omitempty"`   // the output kept so far
	Forget bool          `json:"forget,omitempty"` // answers that hold for equal questions
	Answer *verdict      `json:"answer,omitempty"`
}

// start is an engine.Command.
type start struct {
	ID        exact         `json:"id"`
	Text      exact         `json:"text"`
	WorkDir   exact         `json:"work_dir"`
	Env       variables     `json:"env"`
	Timeout   time.Duration `json:"timeout"`
	Grace     time.Duration `json:"grace"`
	Output    int           `json:"output"`
	Elevated  bool          `json:"elevated,omitempty"`
	SeeStdout bool          `json:"see_stdout,omitempty"` // an output stream comes along
	SeeStderr bool          `json:"see_stderr,omitempty"`
	Joined    bool          `json:"joined,omitempty"`
	Stdin     bool          `json:"stdin,omitempty"` // an input stream comes along
	Terminal  *size         `json:"terminal,omitempty"`
	Ask       bool          `json:"ask,omitempty"`    // before certain names are made
	Starts    bool          `json:"starts,omitempty"` // before programs start
}

// question asks whether a command may make a name, or whether a program may start. A verdict of the same
// number answers it.
type question struct {
	Number  uint64          `json:"number"`
	Path    exact           `json:"path,omitempty"`
	Program json.RawMessage `json:"program,omitempty"`
	Way     []exact         `json:"way,omitempty"` // of the program
}

type verdict struct {
	Number uint64 `json:"number"`
	Yes    bool   `json:"yes,omitempty"`
	Again  bool   `json:"again,omitempty"` // it answers equal questions, too, until the order to forget
}

// repeat counts the questions that an earlier answer answered.
type repeat struct {
	Number uint64 `json:"number"` // of the question that was asked
	Times  int    `json:"times"`
}

// program is an engine.Program.
type program struct {
	Path  exact     `json:"path"`
	File  exact     `json:"file"`
	Dir   exact     `json:"dir"`
	Argv  variables `json:"argv"`
	By    variables `json:"by,omitzero"`
	ELF   bool      `json:"elf,omitempty"`
	Set   variables `json:"set,omitzero"`
	Lost  variables `json:"lost,omitzero"`
	Begun bool      `json:"begun,omitempty"`
	Nodes nodes     `json:"nodes,omitempty"` // on the ways to the places that it names
}

// programOf is a program but for its way.
func programOf(p engine.Program) *program {
	return &program{
		Path: exact(p.Path), File: exact(p.File), Dir: exact(p.Dir), Argv: p.Argv, By: p.By, Set: p.Set,
		Lost: p.Lost, ELF: p.ELF, Begun: p.Begun, Nodes: p.Seen.Nodes,
	}
}

// program reads the program of a question, in bounds.
func (q question) program() (engine.Program, error) {
	var p program
	if err := decode(q.Program, &p); err != nil {
		return engine.Program{}, err
	}
	e := engine.Program{
		Path: string(p.Path), File: string(p.File), Dir: string(p.Dir), Argv: p.Argv, By: p.By, Set: p.Set,
		Lost: p.Lost, ELF: p.ELF, Begun: p.Begun, Way: func() []string { return plains(q.Way) },
	}
	if !absolute(e.Path) || len(e.Argv) == 0 || len(q.Way) > maxWay {
		return engine.Program{}, violation("a program at %.80q with %d words", e.Path, len(e.Argv))
	}
	if len(p.Nodes) > maxNodes {
		return engine.Program{}, violation("a program with %d files", len(p.Nodes))
	}
	if !e.Begun {
		e.Seen = facts.Ways{To: placesOf(e), Nodes: p.Nodes}
	}
	return e, nil
}

// placesOf are the places of the files that the facts about a program need.
func placesOf(p engine.Program) []string {
	return disk.Named(p.Dir, slices.Concat([]string{p.Path, p.File}, p.By, p.Argv[min(1, len(p.Argv)):]))
}

// size is an engine.WindowSize.
type size struct {
	Rows    int `json:"rows"`
	Columns int `json:"columns"`
}

func startOf(c engine.Command) *start {
	return &start{
		ID: exact(c.ID), Text: exact(c.Text), WorkDir: exact(c.WorkDir), Env: c.Env,
		Timeout: c.Timeout, Grace: c.Grace, Output: c.Output, SeeStdout: c.Stdout != nil,
		SeeStderr: c.Stderr != nil,
		Joined:    c.Joined, Elevated: c.Elevated, Stdin: c.Stdin != nil, Terminal: (*size)(c.Terminal),
		Ask:    c.MayMake != nil,
		Starts: c.MayStart != nil,
	}
}

func (s *start) command() engine.Command {
	return engine.Command{
		ID: string(s.ID), Text: string(s.Text), WorkDir: string(s.WorkDir), Env: s.Env,
		Timeout: s.Timeout, Grace: s.Grace, Output: s.Output, Joined: s.Joined, Elevated: s.Elevated,
		Terminal: (*engine.WindowSize)(s.Terminal),
	}
}

// report is a message of a supervisor on a process stream: first started or error, in the end exit.
// Questions may come in between. The texts of standard output and standard error follow kept and exit, in
// chunks.
type report struct {
	Started *started  `json:"started,omitempty"`
	Error   *failure  `json:"error,omitempty"`
	Kept    *kept     `json:"kept,omitempty"`
	Ask     *question `json:"ask,omitempty"`
	Exit    *exit     `json:"exit,omitempty"`
}

type started struct {
	PID int `json:"pid"`
}

// kept is both streams without their texts.
type kept struct {
	Stdout stream `json:"stdout"`
	Stderr stream `json:"stderr"`
}

type stream struct {
	Bytes   int64  `json:"bytes"`
	Dropped int64  `json:"dropped"`
	SHA256  string `json:"sha256"`
}

func streamOf(s engine.Stream) stream {
	return stream{Bytes: s.Bytes, Dropped: s.Dropped, SHA256: s.SHA256}
}

// exit is an engine.Exit. When it started is not told: clocks differ.
type exit struct {
	Code      int           `json:"code"`
	Signal    string        `json:"signal,omitempty"`
	TimedOut  bool          `json:"timed_out,omitempty"`
	Killed    exact         `json:"killed,omitempty"`
	Survivors int           `json:"survivors,omitempty"`
	Duration  time.Duration `json:"duration"`
	User      time.Duration `json:"user"`
	System    time.Duration `json:"system"`
	MaxRSS    int64         `json:"max_rss"`
	OOMKills  int           `json:"oom_kills,omitempty"`

	Uncompared int      `json:"uncompared,omitempty"`
	Repeats    []repeat `json:"repeats,omitempty"`

	Error string `json:"error,omitempty"`
	kept
}

func exitOf(e engine.Exit) *exit {
	x := &exit{
		Code: e.Code, Signal: e.Signal, TimedOut: e.TimedOut, Killed: exact(e.Killed), Survivors: e.Survivors,
		Duration: e.Duration, User: e.UserTime, System: e.SystemTime, MaxRSS: e.MaxRSS, OOMKills: e.OOMKills,
		Uncompared: e.Uncompared,
		kept:       kept{streamOf(e.Stdout), streamOf(e.Stderr)},
	}
	if e.Error != nil {
		x.Error = words(e.Error.Error())
	}
	return x
}

// Operations of a calls stream. Those of files follow no symbolic link; those of fs are for facts.
const (
	opEnviron  = "environ"
	opLstat    = "fs.lstat"
	opWalk     = "fs.walk"
	opReadLink = "fs.read_link"
	opReadDir  = "fs.read_dir"
	opReadFile = "fs.read_file"

	opFilesLstat    = "files.lstat"
	opFilesReadLink = "files.read_link"
	opFilesReadDir  = "files.read_dir"
	opFilesOpen     = "files.open"  // the content follows the reply
	opFilesWrite    = "files.write" // the content follows the request
	opFilesMkdir    = "files.mkdir"
	opFilesSymlink  = "files.symlink"
	opFilesChmod    = "files.chmod"
	opFilesRemove   = "files.remove"
)

// request asks for one operation.
type request struct {
	Op      string  `json:"op"`
	Path    exact   `json:"path"`
	Paths   []exact `json:"paths,omitempty"`  // of walk and environ
	Target  exact   `json:"target,omitempty"` // of a link
	Limit   int     `json:"limit,omitempty"`  // bytes to read or entries to list
	Mode    uint32  `json:"mode,omitempty"`   // permission bits
	Replace bool    `json:"replace,omitempty"`
	Like    *info   `json:"like,omitempty"`

	until time.Time // when nobody waits for the reply any more; zero for never
}

// reply answers it.
type reply struct {
	Error   *failure  `json:"error,omitempty"`
	Env     variables `json:"env,omitzero"`
	Info    *info     `json:"info,omitempty"`
	Target  exact     `json:"target,omitempty"`
	Entries []entry   `json:"entries,omitempty"`
	Nodes   nodes     `json:"nodes,omitempty"`
	More    bool      `json:"more,omitempty"` // another reply with more entries follows
	Content []byte    `json:"content,omitempty"`
	Whole   bool      `json:"whole,omitempty"`
	Bytes   int64     `json:"bytes,omitempty"`
}
