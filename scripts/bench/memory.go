package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"daawo/scripts/server"
)

// The load of -only memory: each client sends requests at a fixed rate, so that a fast server gets
// no more of them than a slow one.
const (
	memoryClients = 8
	memoryRate    = 25               // requests per second and client
	memorySettles = 10 * time.Second // between the start and the first reading
)

// aloneServer is a server of one service that runs as a process group of its own.
type aloneServer struct {
	name string
	cmd  *exec.Cmd
	do   func(ctx context.Context, client, i int) error // one request
}

// memory compares the memory of `serve rest`, `serve auth` and `serve storage` after a load of
// three times -for with the real servers, whose commands are POSTGREST_COMMAND, GOTRUE_COMMAND and
// STORAGE_API_COMMAND. All of them use the database of one stack.
func (c choice) memory(ctx context.Context) error {
	st, err := server.New(ctx, c.binary)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := prepareREST(ctx, st); err != nil {
		return err
	}
	m, err := newModel(ctx, st)
	if err != nil {
		return err
	}
	binary, err := filepath.Abs(c.binary)
	if err != nil {
		return err
	}
	files, err := os.MkdirTemp("", "daawo-files-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(files)
	var list []*aloneServer
	defer func() {
		for _, s := range list {
			s.stop()
		}
	}()
	for _, s := range servedAlone(files) {
		if !strings.Contains(s.name, c.rows) {
			continue
		}
		for _, program := range []struct{ name, command string }{
			{"serve " + s.name, "exec " + binary + " serve " + s.name}, {s.upstream, os.Getenv(s.command)},
		} {
			if program.command == "" {
				continue
			}
			started, err := s.start(ctx, m, program.name, program.command)
			if started != nil {
				list = append(list, started)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", program.name, err)
			}
		}
	}
	return measureMemory(ctx, list, 3*c.length)
}

// measureMemory loads the servers at the same time and prints their memory before and after.
func measureMemory(ctx context.Context, list []*aloneServer, length time.Duration) error {
	time.Sleep(memorySettles)
	rest := make([]memoryFigures, len(list))
	for i, s := range list {
		rest[i] = s.figures()
	}
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, s := range list {
		all.Go(func() { errs[i] = s.load(ctx, length) })
	}
	all.Wait()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "resident memory (MB)\tat rest\tafter %s of load\tpart of its own\tpeak\t\n", length)
	for i, s := range list {
		loaded := s.figures()
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t\n", s.name, rest[i].resident>>10, loaded.resident>>10, loaded.own>>10,
			loaded.peak>>10)
	}
	return errors.Join(append(errs, table.Flush())...)
}

// start runs a command with the variables of the service, and waits until it listens.
func (s aloneService) start(ctx context.Context, m *model, name, command string) (*aloneServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	_ = l.Close() // only a free port was wanted
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, s.variables(m.st, port)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	started := &aloneServer{name: name, cmd: cmd}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			break
		} else if time.Now().After(end) {
			return started, err
		}
	}
	started.do, err = s.requests(ctx, m, target{url: "http://" + address, bearer: m.st.Get(s.key)})
	return started, err
}

// stop ends the process group.
func (s *aloneServer) stop() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	_ = s.cmd.Wait() // it was killed
}

// load has clients send requests at a fixed rate.
func (s *aloneServer) load(ctx context.Context, length time.Duration) error {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	errs := make([]error, memoryClients)
	var all sync.WaitGroup
	for client := range errs {
		all.Go(func() {
			tick := time.NewTicker(time.Second / memoryRate)
			defer tick.Stop()
			for i := 0; errs[client] == nil; i++ {
				select {
				case <-tick.C:
					errs[client] = s.do(context.WithoutCancel(ctx), client, i)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// memoryFigures are sizes of memory in kB.
type memoryFigures struct{ resident, peak, own int }

// figures returns the memory of the processes of the group.
func (s *aloneServer) figures() (f memoryFigures) {
	group := strconv.Itoa(s.cmd.Process.Pid)
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		stat, _ := os.ReadFile(filepath.Join(folder, "stat")) // empty if the process has ended
		// The name in parentheses may hold spaces: fields are counted after it (proc_pid_stat(5)).
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != group {
			continue
		}
		for file, sizes := range map[string]map[string]*int{
			"status": {"VmRSS:": &f.resident, "VmHWM:": &f.peak}, "smaps_rollup": {"Private_Dirty:": &f.own},
		} {
			text, _ := os.ReadFile(filepath.Join(folder, file))
			for line := range strings.Lines(string(text)) {
				if words := strings.Fields(line); len(words) > 1 && sizes[words[0]] != nil {
					kb, _ := strconv.Atoi(words[1]) // digits
					*sizes[words[0]] += kb
				}
			}
		}
	}
	return f
}
