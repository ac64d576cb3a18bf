package studio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"daawo/supabase/internal/gateway"
)

// process is the program with the processes that it starts. They are one process group.
type process struct {
	pid     int
	address string // 127.0.0.1:PORT
	output  string // file with what it printed
	began   time.Time
	exited  chan struct{} // closed when the first process is reaped
	err     error         // read it after exited is closed
}

const (
	maxOutput = 1 << 20 // bytes of output that are kept
	// how long the program may take to end after SIGTERM
	stopGrace = 5 * time.Second
	// V8's heap as in the profile of the archive's publisher
	nodeOptions = "--max-old-space-size=192 --max-semi-space-size=2"
)

// start starts the program on a free port.
func (s *Server) start(ctx context.Context, folder string) (*process, error) {
	f := s.folders()
	for _, dir := range []string{f.Home, f.Snippets, f.Functions} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	variables, err := s.o.Variables(ctx, f)
	if err != nil {
		return nil, err
	}
	if s.o.Give != nil {
		if err := s.o.Give(s.o.Dir); err != nil {
			return nil, err
		}
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	output, err := newFile(filepath.Join(s.o.Dir, "output.log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(folder, filepath.FromSlash(Part.Program)))
	cmd.Dir = folder
	// Nothing of this process's environment is passed on, which has secrets.
	cmd.Env = append([]string{
		"PATH=/usr/bin:/bin", "HOME=" + f.Home, "TMPDIR=" + os.TempDir(), "TZ=UTC", "LC_ALL=C.UTF-8",
		"NODE_ENV=production", "HOSTNAME=127.0.0.1", "PORT=" + strconv.Itoa(port),
		"NODE_OPTIONS=" + nodeOptions, "NEXT_TELEMETRY_DISABLED=1",
	}, variables...)
	cmd.SysProcAttr = procAttr(s.o.Credential)
	p := &process{address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), output: output.Name(), began: time.Now(),
		exited: make(chan struct{})}
	return p, p.spawn(cmd, output)
}

// newFile creates a file in place of an old one. It follows no link: the program may own the
// folder, and this process may be root.
func newFile(name string) (*os.File, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// spawn starts the command. One goroutine keeps its thread until the program ends, because the
// kernel sends the parent-death signal when the thread ends that started the program.
func (p *process) spawn(cmd *exec.Cmd, output *os.File) error {
	read, write, err := os.Pipe()
	if err != nil {
		return errors.Join(err, output.Close())
	}
	cmd.Stdout, cmd.Stderr = write, write
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = write.Close()
		if err != nil {
			_ = errors.Join(read.Close(), output.Close())
			started <- err
			return
		}
		go keep(output, read)
		p.pid = cmd.Process.Pid
		started <- nil
		p.err = cmd.Wait()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start Studio: %w", err)
	}
	return nil
}

// keep copies the start of the program's output to a file, and drops the rest. It ends when the
// program and its children have ended.
func keep(to, from *os.File) {
	defer from.Close()
	_, _ = io.CopyN(to, from, maxOutput) // a full disk must not stop the program
	_ = to.Close()
	_, _ = io.Copy(io.Discard, from)
}

// freePort returns a port on loopback that no program uses.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// awaitReady returns when Studio answers its profile.
func (p *process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true}
	client := http.Client{Transport: transport, Timeout: 10 * time.Second}
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/api/platform/profile", nil)
		if err != nil {
			return err
		}
		if res, err := client.Do(r); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.exited:
			return fmt.Errorf("the program ended while it started: %w; %s has its output", p.result(), p.output)
		case <-ctx.Done():
			return fmt.Errorf("the program was not ready within %v; %s has its output", startTimeout, p.output)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// result returns how an exited program ended.
func (p *process) result() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// proxy returns a handler that forwards requests to the program.
func (p *process) proxy(log *slog.Logger) http.Handler {
	return gateway.Proxy(&url.URL{Scheme: "http", Host: p.address}, 0, log)
}

// memory returns the resident bytes of all its processes; 0 if they are unknown.
func (p *process) memory() int64 { return groupMemory(p.pid) }

// stop ends the program and all processes of its group.
func (p *process) stop() {
	_ = syscall.Kill(-p.pid, syscall.SIGTERM) // fails if all have ended
	select {
	case <-p.exited:
	case <-time.After(stopGrace):
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL) // also those that the first process left
	<-p.exited
}
