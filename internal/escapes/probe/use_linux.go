package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// threads starts as many tasks at once as it is told. The Go runtime gives up where it gets none.
func threads(w words) (string, error) {
	var up, end sync.WaitGroup
	end.Add(1)
	for range w.num(0) {
		up.Add(1)
		go func() {
			runtime.LockOSThread()
			up.Done()
			end.Wait()
		}()
	}
	up.Wait()
	return got(), nil
}

// memory takes so many MiB, touches each page, and holds them while the rest of its words, a command, runs.
func memory(w words) (string, error) {
	for range w.num(0) {
		b, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return "", err
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
	}
	if len(w) > 1 {
		if err := exec.Command(w[1], w[2:]...).Run(); err != nil {
			return "", err
		}
	}
	return got(), nil
}

// fill writes so many MiB into a directory and takes them away again.
func fill(w words) (string, error) {
	name := w.at(0) + "/escapes-fill"
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	defer func() { _ = os.Remove(name) }()
	block := make([]byte, 1<<20)
	for i := range w.num(1) {
		if _, err := f.Write(block); err != nil {
			return "", fmt.Errorf("after %d MiB: %w", i, err)
		}
	}
	return got(), nil
}

// openFiles opens as many files as it is told.
func openFiles(w words) (string, error) {
	for i := range w.num(0) {
		if _, err := unix.Open("/", unix.O_RDONLY, 0); err != nil {
			return "", fmt.Errorf("after %d: %w", i, err)
		}
	}
	return got(), nil
}
