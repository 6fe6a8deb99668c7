package wasm

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// wasiModule is the system interface of toolchains, WASI preview 1. A plugin gets none of it: each function
// is a stub that refuses, or that gives the same answer in every call.
const wasiModule = "wasi_snapshot_preview1"

// Error numbers of WASI.
const (
	wasiSuccess      = 0
	wasiBadFile      = 8
	wasiFault        = 21
	wasiInvalid      = 28
	wasiNotSupported = 58
)

// A stub answers one function. It gets the parameters and returns an error number.
type stub struct {
	params string // i for 32 bits, I for 64
	answer func(c *call, m api.Memory, params []uint64) uint32
}

func refuse(number uint32) func(*call, api.Memory, []uint64) uint32 {
	return func(*call, api.Memory, []uint64) uint32 { return number }
}

// stubs lists all of WASI preview 1. proc_exit has no result and is made apart.
func stubs() map[string]stub {
	all := map[string]stub{
		"args_get": {"ii", refuse(
			wasiSuccess)}, // of no arguments and no variables there is nothing to write
		"environ_get":       {"ii", refuse(wasiSuccess)},
		"args_sizes_get":    {"ii", zeros},
		"environ_sizes_get": {"ii", zeros},
		"clock_res_get":     {"ii", resolution},
		"clock_time_get":    {"iIi", clock},
		"random_get":        {"ii", random},
		"fd_write":          {"iiii", write},
		"sched_yield":       {"", refuse(wasiSuccess)},
		"poll_oneoff":       {"iiii", poll},
		"proc_raise":        {"i", refuse(wasiNotSupported)},
	}
	for name, params := range map[string]string{
		"fd_advise": "iIIi", "fd_allocate": "iII", "fd_close": "i", "fd_datasync": "i", "fd_fdstat_get": "ii",
		"fd_fdstat_set_flags":  "ii",
		"fd_fdstat_set_rights": "iII", "fd_filestat_get": "ii", "fd_filestat_set_size": "iI",
		"fd_filestat_set_times": "iIIi",
		"fd_pread":              "iiiIi", "fd_prestat_dir_name": "iii", "fd_prestat_get": "ii",
		"fd_pwrite":  "iiiIi",
		"fd_read":    "iiii",
		"fd_readdir": "iiiIi", "fd_renumber": "ii", "fd_seek": "iIii", "fd_sync": "i", "fd_tell": "ii",
		"path_create_directory": "iii", "path_filestat_get": "iiiii", "path_filestat_set_times": "iiiiIIi",
		"path_link": "iiiiiii",
		"path_open": "iiiiiIIii", "path_readlink": "iiiiii", "path_remove_directory": "iii",
		"path_rename":  "iiiiii",
		"path_symlink": "iiiii", "path_unlink_file": "iii",
		"sock_accept": "iii", "sock_recv": "iiiiii", "sock_send": "iiiii", "sock_shutdown": "ii",
	} {
		all[name] = stub{params, refuse(wasiBadFile)} // no file is open, none can be
	}
	return all
}

const wasiExit = "proc_exit"

// wasiFunctions are the functions that rule plugins can import.
func wasiFunctions() map[imported]hostFunction {
	all := map[imported]hostFunction{{wasiModule, wasiExit}: {"i", "", exit}}
	for name, s := range stubs() {
		all[imported{wasiModule, name}] = hostFunction{s.params, "i", s.call()}
	}
	return all
}

func (s stub) call() api.GoModuleFunc {
	return func(ctx context.Context, m api.Module, stack []uint64) {
		c := callOf(ctx)
		c.mustGoOn() // the work of a stub is not metered, so that each call of one is a step of its own
		memory := m.Memory()
		if memory == nil {
			stack[0] = wasiFault
			return
		}
		stack[0] = uint64(s.answer(c, memory, stack))
	}
}

func exit(_ context.Context, _ api.Module, stack []uint64) {
	panic(fmt.Errorf("it ended itself with status %d", uint32(stack[0])))
}

func zeros(_ *call, m api.Memory, p []uint64) uint32 {
	return stored(m.WriteUint32Le(uint32(p[0]), 0) && m.WriteUint32Le(uint32(p[1]), 0))
}

func stored(ok bool) uint32 {
	if !ok {
		return wasiFault
	}
	return wasiSuccess
}

func resolution(_ *call, m api.Memory, p []uint64) uint32 {
	return stored(m.WriteUint64Le(uint32(p[1]), 1000))
}

func clock(c *call, m api.Memory, p []uint64) uint32 {
	c.now += 1000
	return stored(m.WriteUint64Le(uint32(p[2]), c.now))
}

// random gives the same bytes each time: a plugin's answer depends on its input alone.
func random(_ *call, m api.Memory, p []uint64) uint32 {
	b, ok := m.Read(uint32(p[0]), uint32(p[1]))
	for i := range b {
		b[i] = byte(i*167 + 13)
	}
	return stored(ok)
}

// Layout of the arguments and results of poll.
const (
	subscriptionSize, subscriptionKind, subscriptionTime, subscriptionAbsolute = 48, 8, 24, 40
	eventSize, eventError, eventKind                                           = 32, 8, 10
	maxSubscriptions                                                           = 64
)

// poll answers at once: a wait for a time is over, a wait for a file fails. A toolchain that cannot sleep
// gives up before it reports the reason.
func poll(c *call, m api.Memory, p []uint64) uint32 {
	in, out, n := uint32(p[0]), uint32(p[1]), uint32(p[2])
	if n == 0 || n > maxSubscriptions {
		return wasiInvalid
	}
	for i := range n {
		from, to := in+i*subscriptionSize, out+i*eventSize
		data, ok := m.ReadUint64Le(from)
		kind, ok2 := m.ReadByte(from + subscriptionKind)
		until, ok3 := m.ReadUint64Le(from + subscriptionTime)
		absolute, ok4 := m.ReadUint16Le(from + subscriptionAbsolute)
		if !ok || !ok2 || !ok3 || !ok4 {
			return wasiFault
		}
		problem := uint16(wasiSuccess)
		switch {
		case kind != 0:
			problem = wasiBadFile
		case absolute&1 != 0:
			c.now = max(c.now, until)
		default:
			c.now += until
		}
		if !m.WriteUint64Le(to, data) || !m.WriteUint64Le(to+eventError, 0) ||
			!m.WriteUint16Le(to+eventError, problem) || !m.WriteByte(to+eventKind, kind) {
			return wasiFault
		}
	}
	return stored(m.WriteUint32Le(uint32(p[3]), n))
}

// maxSaid bounds the output of a plugin that is kept for the operator, in bytes.
const maxSaid = 2048

// write keeps the beginning of standard output and error: it shows the reason for a plugin's end.
func write(c *call, m api.Memory, p []uint64) uint32 {
	fd, list, n, result := uint32(p[0]), uint32(p[1]), uint32(p[2]), uint32(p[3])
	if fd != 1 && fd != 2 {
		return wasiBadFile
	}
	if n > 1024 {
		return wasiInvalid
	}
	var total uint32
	for i := range n {
		at, ok := m.ReadUint32Le(list + 8*i)
		size, ok2 := m.ReadUint32Le(list + 8*i + 4)
		b, ok3 := m.Read(at, size)
		if !ok || !ok2 || !ok3 {
			return wasiFault
		}
		c.said = append(c.said, b[:min(len(b), maxSaid-len(c.said))]...)
		total += size
	}
	return stored(m.WriteUint32Le(result, total))
}
