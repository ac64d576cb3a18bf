package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// process is the program with the processes that it starts. They are one process group.
type process struct {
	pid     int
	address string // 127.0.0.1:PORT
	began   time.Time
	exited  chan struct{} // closed when the first process is reaped and its output kept
	err     error         // read it after exited is closed
}

// how long the program may take to end after SIGTERM
const stopGrace = 5 * time.Second

// how long its output may take after its end
const outputGrace = time.Second

// start starts the program on a free port.
func (p *Program) start(ctx context.Context) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd, err := p.o.Command(ctx, port)
	if err != nil {
		return nil, err
	}
	output, err := p.o.Output()
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = procAttr(cmd.SysProcAttr)
	proc := &process{
		address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), began: time.Now(), exited: make(chan struct{}),
	}
	return proc, proc.spawn(p.o.Name, cmd, output)
}

// spawn starts the command. One goroutine keeps its thread until the program ends, because the
// kernel sends the parent-death signal when the thread ends that started the program.
func (p *process) spawn(name string, cmd *exec.Cmd, output io.WriteCloser) error {
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
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			keep(output, read)
		}()
		p.pid = cmd.Process.Pid
		started <- nil
		p.err = cmd.Wait()
		select { // its last words are in the file before anyone is told to read them there
		case <-kept:
		case <-time.After(outputGrace): // a child that it left holds the pipe open
		}
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	return nil
}

// keep copies what the program prints. It ends when the program and its children have ended.
func keep(to io.WriteCloser, from *os.File) {
	defer from.Close()
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_, _ = io.Copy(io.Discard, from) // a full disk must not stop the program
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

// awaitReady returns when the program answers the path. hint says where its output is.
func (p *process) awaitReady(ctx context.Context, path, hint string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true}
	client := http.Client{Transport: transport, Timeout: 10 * time.Second}
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path, nil)
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
			return fmt.Errorf("the program ended while it started: %w; %s has its output", p.result(), hint)
		case <-ctx.Done():
			return fmt.Errorf("the program was not ready within %v; %s has its output", startTimeout, hint)
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
