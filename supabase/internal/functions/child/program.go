package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"daawo/supabase/internal/base/tempdir"

	"github.com/fsnotify/fsnotify"
)

// ProgramOptions configure the functions of a project that are not part of this program.
type ProgramOptions struct {
	DevOptions
	Keep  string // file for the built program, which a machine without Go runs
	Watch bool   // build again after a change, as in development
}

// NewProgram builds the functions of a project, starts them in a child process and returns when
// they serve. A process that ends by itself is started again. Close ends it.
func NewProgram(ctx context.Context, o ProgramOptions) (*Dev, error) {
	dir, err := tempdir.New("", "functions")
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	d := &Dev{DevOptions: o.DevOptions, dir: dir, life: life, cancel: cancel, current: builtIn{o.Host}}
	if err := d.first(ctx, o); err != nil {
		cancel()
		return nil, errors.Join(err, dir.Remove())
	}
	if o.Watch {
		if err := d.watchChanges(); err != nil {
			return nil, errors.Join(err, d.Close(ctx))
		}
	}
	d.done.Go(d.supervise)
	return d, nil
}

// first builds and starts the first version.
func (d *Dev) first(ctx context.Context, o ProgramOptions) error {
	if err := writeOverlay(d.dir.Path, o.Root); err != nil {
		return err
	}
	program, err := d.buildOrKept(ctx, o.Keep)
	if err != nil {
		return err
	}
	config, err := d.Child()
	if err != nil {
		return err
	}
	p, err := Start(ctx, StartOptions{Program: program, Socket: filepath.Join(d.dir.Path, "socket-first"),
		Config: config, Log: d.Log})
	if err != nil {
		return fmt.Errorf("functions do not start: %w", err)
	}
	d.current = p
	return nil
}

// buildOrKept builds the functions and keeps the program. Without Go it returns a copy of the kept
// program, if that is not older than the source.
func (d *Dev) buildOrKept(ctx context.Context, keep string) (string, error) {
	if _, err := exec.LookPath("go"); err == nil {
		program, err := d.build(ctx, "first")
		if err != nil {
			return "", fmt.Errorf("functions do not compile:\n%w", err)
		}
		if err := copyProgram(program, keep); err != nil {
			return "", fmt.Errorf("keep the functions: %w", err)
		}
		return program, nil
	}
	built, err := os.Stat(keep)
	if err != nil {
		return "", errors.New("functions/ holds functions in Go, which need Go to be built: install it (https://go.dev/dl), or start once where it is installed and copy the data folder's file functions-program")
	}
	if newer, err := newerThan(filepath.Join(d.Root, "functions"), built.ModTime()); err != nil || newer {
		return "", errors.Join(err,
			errors.New("functions/ has changed since the functions were built, and Go is not installed"))
	}
	program := filepath.Join(d.dir.Path, "functions-first")
	return program, copyProgram(keep, program)
}

// copyProgram copies an executable file. The target is complete or absent.
func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	part := to + ".part"
	out, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close(), os.Remove(part))
	}
	return errors.Join(out.Close(), os.Rename(part, to))
}

// newerThan reports whether a file below dir was changed after a time.
func newerThan(dir string, when time.Time) (newer bool, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		newer = newer || err == nil && info.ModTime().After(when)
		return err
	})
	return newer, err
}

// watchChanges builds again after changes until Close.
func (d *Dev) watchChanges() error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch functions: %w", err)
	}
	if err := watchTree(watcher, filepath.Join(d.Root, "functions")); err != nil {
		return errors.Join(fmt.Errorf("watch functions: %w", err), watcher.Close())
	}
	d.done.Go(func() {
		defer watcher.Close()
		d.watch(d.life, watcher)
	})
	return nil
}

// Pauses between the end of a process and its next start.
const (
	FirstPause   = 100 * time.Millisecond
	LongestPause = 30 * time.Second
)

// supervise starts the current process again when it has ended by itself, until Close.
func (d *Dev) supervise() {
	pause := FirstPause
	for n := 1; ; n++ {
		d.mu.RLock()
		p, ok := d.current.(*Process)
		d.mu.RUnlock()
		if !ok {
			return
		}
		started := time.Now()
		select {
		case <-d.life.Done():
			return
		case <-p.exited:
		}
		d.mu.RLock()
		replaced := d.current != server(p)
		d.mu.RUnlock()
		if replaced {
			continue
		}
		if time.Since(started) > LongestPause {
			pause = FirstPause
		}
		d.Log.Error("functions process ended; restarting", "pause", pause)
		select {
		case <-d.life.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, LongestPause)
		config, err := d.Child()
		if err == nil {
			var next *Process
			if next, err = Start(d.life, StartOptions{Program: p.cmd.Path, Config: config, Log: d.Log,
				Socket: filepath.Join(d.dir.Path, "socket-again-"+strconv.Itoa(n))}); err == nil {
				d.mu.Lock()
				d.current = next
				d.mu.Unlock()
				continue
			}
		}
		d.Log.Error("functions do not start", "error", err)
	}
}
