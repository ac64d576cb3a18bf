package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/tempdir"
	"daawo/supabase/internal/functions/host"

	"github.com/fsnotify/fsnotify"
)

// ProgramOptions configure the functions of a project that are not part of this program.
type ProgramOptions struct {
	DevOptions
	Keep  string // file for the built program, which a machine without Go runs
	Watch bool   // build again after a change, as in development
	Wait  bool   // return when the functions serve, or with the reason why they do not
}

// NewProgram builds the functions of a project and starts them in a child process. Until they
// serve, calls get 503 and jobs wait. A process that ends by itself is started again. Close ends
// it.
func NewProgram(ctx context.Context, o ProgramOptions) (*Dev, error) {
	dir, err := tempdir.New("", "functions")
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	d := &Dev{DevOptions: o.DevOptions, dir: dir, life: life, cancel: cancel, served: make(chan struct{})}
	d.current = notBuilt{d}
	var watcher *fsnotify.Watcher
	if o.Watch {
		watcher, err = watchFunctions(o.Root)
	}
	if err == nil && o.Wait {
		err = d.first(ctx, o.Keep)
	}
	if err != nil {
		cancel()
		if watcher != nil {
			err = errors.Join(err, watcher.Close())
		}
		return nil, errors.Join(err, dir.Remove())
	}
	d.done.Go(func() {
		if !o.Wait {
			if err := d.first(life, o.Keep); err != nil && life.Err() == nil {
				d.fail(err)
			}
		}
		if watcher != nil {
			defer watcher.Close()
			d.watch(life, watcher, nil)
		}
	})
	d.done.Go(d.supervise)
	return d, nil
}

// first builds and starts the first version.
func (d *Dev) first(ctx context.Context, keep string) error {
	start := time.Now()
	d.Log.Info("building functions", "folder", d.Root)
	if err := writeOverlay(d.dir.Path, d.Root); err != nil {
		return err
	}
	program, err := d.buildOrKept(ctx, keep)
	if err != nil {
		return err
	}
	if err := d.serve(ctx, program, "first"); err != nil {
		return err
	}
	d.Log.Info("functions built", "duration", time.Since(start))
	return nil
}

// Ready returns nil when the functions serve, or else the reason why they do not. After that a new
// version that does not compile, or a process that restarts, is no reason.
func (d *Dev) Ready() error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	switch _, none := d.current.(notBuilt); {
	case !none:
		return nil
	case d.problem != "":
		return errors.New(d.problem)
	}
	return ErrBuilding
}

// ErrBuilding is the state before the end of the first build.
var ErrBuilding = errors.New("the functions are being built")

// notBuilt is the version before the first build: it has no functions.
type notBuilt struct{ dev *Dev }

// whileBuilding is the pause before a call or a job that comes before the first build is tried
// again.
const whileBuilding = 5 * time.Second

// ServeHTTP answers 503 with the state of the build. Other machines do not see the error of a
// failed one.
func (n notBuilt) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", strconv.Itoa(int(whileBuilding.Seconds())))
	err := n.dev.Ready()
	switch {
	case err == nil || errors.Is(err, ErrBuilding):
		host.Fail(w, http.StatusServiceUnavailable, "BUILDING", "The functions are being built. Please try again")
	case n.dev.Public:
		host.Fail(w, http.StatusServiceUnavailable, "BOOT_ERROR", "Worker failed to boot (please check logs)")
	default:
		host.Fail(w, http.StatusServiceUnavailable, "BOOT_ERROR", err.Error())
	}
}

func (notBuilt) MaxBody(string) int64                      { return 0 } // it answers at once
func (notBuilt) Schedules() map[string]string              { return nil }
func (notBuilt) RunSchedule(context.Context, string) error { return edge.Snooze(whileBuilding) }
func (notBuilt) RunJob(context.Context, string, string, []byte) error {
	return edge.Snooze(whileBuilding)
}
func (notBuilt) Configure(host.ChildConfig) error { return nil } // the start reads it
func (notBuilt) begin()                           {}
func (notBuilt) end()                             {}
func (notBuilt) Retire(context.Context)           {}

var errCompile = errors.New("functions do not compile")

// buildOrKept builds the functions and keeps the program. Without Go it returns a copy of the kept
// program, if that is not older than the source.
func (d *Dev) buildOrKept(ctx context.Context, keep string) (string, error) {
	if _, err := exec.LookPath("go"); err == nil {
		program, err := d.build(ctx, "first")
		if err != nil {
			return "", fmt.Errorf("%w:\n%w", errCompile, err)
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

// Pauses between the end of a process and its next start.
const (
	FirstPause   = 100 * time.Millisecond
	LongestPause = 30 * time.Second
)

// supervise starts the current process again when it has ended by itself, until Close.
func (d *Dev) supervise() {
	select {
	case <-d.life.Done():
		return
	case <-d.served:
	}
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
			if next, err = Start(d.life, StartOptions{Program: p.program, Config: config, Log: d.Log,
				Socket: filepath.Join(d.dir.Path, "socket-again-"+strconv.Itoa(n))}); err == nil {
				d.replace(p, next)
				continue
			}
		}
		d.Log.Error("functions do not start", "error", err)
	}
}

// replace makes next the current version if that is still old, which has ended. If a newer version
// was built during the restart, next ends.
func (d *Dev) replace(old, next *Process) {
	d.mu.Lock()
	replaced := d.current == server(old)
	if replaced {
		d.current = next
	}
	d.mu.Unlock()
	if !replaced {
		d.done.Go(func() { next.Retire(d.life) })
		return
	}
	d.Reconfigure() // the configuration may have changed during the start
}
