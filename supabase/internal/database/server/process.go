package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a child process.
type process struct {
	pid    int
	exited chan struct{} // closed when the child is reaped
	err    error         // exit error; read it after exited is closed

	mu   sync.Mutex
	tail []string // the newest messages
}

const (
	tailLines   = 12                     // messages kept to explain a failure
	outputGrace = 200 * time.Millisecond // how long to wait for a dead child's remaining output
)

// spawn starts a program as the owner and sends its messages to the log.
//
// Pdeathsig fires when the thread that forked the child ends, not the process.
// So one goroutine keeps its thread for as long as the child lives.
func spawn(w owner, log *slog.Logger, dir, path string, args ...string) (*process, error) {
	r, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = pw, pw
	// Do not pass our environment: PG* variables would change the server's
	// behavior, and the environment holds secrets.
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = procAttr(w)
	library, err := preload(cmd)
	if err != nil {
		return nil, errors.Join(err, r.Close(), pw.Close())
	}

	p := &process{exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		pw.Close()
		library.Close()
		if err != nil {
			r.Close()
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		read := make(chan struct{})
		go func() { defer close(read); p.follow(r, log) }()
		err = cmd.Wait()
		// A grandchild may hold the pipe open a little longer.
		r.SetReadDeadline(time.Now().Add(outputGrace))
		<-read
		p.err = err
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// follow logs the messages of Postgres, each at its severity.
func (p *process) follow(r *os.File, log *slog.Logger) {
	defer r.Close()
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			p.mu.Lock()
			p.tail = append(p.tail, line)
			p.tail = p.tail[max(0, len(p.tail)-tailLines):]
			p.mu.Unlock()
			level, text := severity(line)
			log.Log(context.Background(), level, text, "from", "postgres")
		}
		if err != nil {
			io.Copy(io.Discard, r)
			return
		}
	}
}

func severity(line string) (slog.Level, string) {
	name, text, ok := strings.Cut(line, ":  ")
	if !ok {
		return slog.LevelDebug, line
	}
	switch name {
	case "PANIC", "ERROR":
		return slog.LevelError, text
	case "FATAL": // fatal to one connection, such as a wrong password
		return slog.LevelInfo, text
	case "WARNING":
		return slog.LevelWarn, text
	}
	return slog.LevelDebug, text
}

func (p *process) lastMessages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.tail...)
}

// signal sends sig to the child. It does nothing after the child was reaped,
// because another process may have the pid then.
func (p *process) signal(sig syscall.Signal) {
	select {
	case <-p.exited:
	default:
		syscall.Kill(p.pid, sig)
	}
}
