package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/scripts/server"

	"github.com/coder/websocket"
)

// upgradeDrill replaces the running program 20 times while clients send reports, read rows, upload
// files in one piece and slowly, call a function and fetch pages. No client repeats a request: a
// refused or cut one counts. Every fourth time a broken program is installed first, which must
// change nothing. The postmaster stays the same. At the end the serving process is killed, and the
// first process starts another.
func upgradeDrill(ctx context.Context, s settings) (string, error) {
	dir, err := os.MkdirTemp("", "daawo-upgrade-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "daawo")
	if err := install(s.binary, program); err != nil {
		return "", err
	}
	st, err := server.New(ctx, program)
	if err != nil {
		return "", err
	}
	defer st.Close()
	before, err := st.Postmaster()
	if err != nil {
		return "", err
	}
	load := beginUpgradeLoad(ctx, st, fmt.Sprintf("upgrade-%d", s.seed))
	rounds, broken := s.rounds(20, 2), 0
	var took []time.Duration
	for round := range rounds {
		pause(ctx, 500*time.Millisecond)
		if round%4 == 1 {
			broken++
			err = refusedUpgrade(ctx, st, program, broken)
		}
		if err == nil {
			err = install(s.binary, program)
		}
		if err == nil {
			begun := time.Now()
			err = replaceServer(ctx, st)
			took = append(took, time.Since(begun))
		}
		if err != nil {
			load.stop()
			return fmt.Sprintf("round %d of %d", round+1, rounds), fmt.Errorf("%w\n%s", err, st.LogTail())
		}
	}
	pause(ctx, time.Second)
	load.stop()
	figures, err := load.check(ctx, st)
	figures = fmt.Sprintf("%d upgrades (p50 %s, slowest %s), %d of a broken program refused; %s; the first process holds %d MB", rounds,
		percentile(took, 0.5).Round(10*time.Millisecond), percentile(took, 1).Round(10*time.Millisecond), broken,
		figures, privateMB(st.PID()))
	if err != nil {
		return figures, err
	}
	var back []time.Duration
	for range s.rounds(3, 1) { // the first process restarts three in a minute
		took, err := killServing(ctx, st)
		if err != nil {
			return figures, err
		}
		back = append(back, took)
	}
	figures += fmt.Sprintf("; %d serving processes killed, served again after %s at most", len(back),
		percentile(back, 1).Round(10*time.Millisecond))
	if after, err := st.Postmaster(); err != nil || after != before {
		return figures, fmt.Errorf("postgres was replaced: process %d, then %d, %w", before, after, err)
	}
	return figures, nil
}

// killServing kills the process that serves, and returns after how long the API answers. The first
// process keeps the sockets, so that no connection is refused.
func killServing(ctx context.Context, st *server.Stack) (time.Duration, error) {
	pid, err := servingPID(st)
	if err != nil {
		return 0, err
	}
	if pid == st.PID() {
		return 0, errors.New("the first process serves after upgrades")
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return 0, err
	}
	begun := time.Now()
	for {
		r, err := request(st, http.MethodGet, "/rest/v1/resources?select=id&limit=1", nil)
		if err != nil {
			return 0, err
		}
		res, err := client.Do(r.WithContext(ctx))
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return time.Since(begun), nil
			}
		}
		if errors.Is(err, syscall.ECONNREFUSED) || time.Since(begun) > 10*time.Second {
			return 0, fmt.Errorf("after the end of the serving process: %w", errors.Join(err, ctx.Err()))
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// install copies a program to the place of another, as install(1) does: the running program keeps
// its file.
func install(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	part := to + ".part"
	if err := os.WriteFile(part, content, 0o755); err != nil {
		return err
	}
	return os.Rename(part, to)
}

// replaceServer runs `daawo upgrade` and checks that another process serves.
func replaceServer(ctx context.Context, st *server.Stack) error {
	before, err := servingPID(st)
	if err != nil {
		return err
	}
	if _, err := st.Run(ctx, "upgrade"); err != nil {
		return err
	}
	after, err := servingPID(st)
	if err == nil && after == before {
		err = fmt.Errorf("process %d still serves", before)
	}
	return err
}

// servingPID returns the process that the control file of the data folder names.
func servingPID(st *server.Stack) (int, error) {
	text, err := os.ReadFile(filepath.Join(st.Data(), "control.json"))
	if err != nil {
		return 0, err
	}
	var pid int
	_, after, _ := bytes.Cut(text, []byte(`"pid":`))
	_, err = fmt.Sscan(string(after), &pid)
	return pid, err
}

// refusedUpgrade installs a program that ends at once, or one that never serves in turn, and checks
// that the server stays.
func refusedUpgrade(ctx context.Context, st *server.Stack, program string, n int) error {
	before, err := servingPID(st)
	if err != nil {
		return err
	}
	content := "#!/bin/sh\necho broken >&2\nexit 3\n"
	if n%2 == 0 {
		content = "this is no program"
	}
	good := program + ".good"
	if err := os.Rename(program, good); err != nil {
		return err
	}
	if err := os.WriteFile(program, []byte(content), 0o755); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, good, "upgrade", "--data", st.Data()).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the running one continues") {
		return fmt.Errorf("the upgrade to a broken program: %w: %s", err, out)
	}
	after, err := servingPID(st)
	if err == nil && after != before {
		err = errors.New("a broken program replaced the server")
	}
	return err
}

// upgradeLoad is a load of clients that repeat nothing.
type upgradeLoad struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	history history

	mu      sync.Mutex
	counts  map[string]int // complete requests by kind
	lost    map[string]int // refused or cut requests by kind
	first   string         // failure
	waits   []time.Duration
	goodbye map[websocket.StatusCode]int // ends of WebSockets by code
	files   []string
}

// beginUpgradeLoad begins the load. prefix makes its reports and files unique.
func beginUpgradeLoad(ctx context.Context, st *server.Stack, prefix string) *upgradeLoad {
	ctx, cancel := context.WithCancel(ctx)
	l := &upgradeLoad{cancel: cancel, counts: map[string]int{}, lost: map[string]int{},
		goodbye: map[websocket.StatusCode]int{}}
	pdf := append([]byte("%PDF-1.4\n"), bytes.Repeat([]byte{'a'}, 100_000)...)
	for n := range 3 {
		l.client(ctx, st, "report", n, l.report(st, fmt.Sprintf("%s-%d", prefix, n)))
		l.client(ctx, st, "read", n, func(int) (*http.Request, error) {
			return request(st, http.MethodGet, "/rest/v1/resources?select=id", nil)
		})
	}
	for n := range 2 {
		l.client(ctx, st, "page", n, func(int) (*http.Request, error) { return request(st, http.MethodGet, "/", nil) })
		upload := func(slow bool) func(i int) (*http.Request, error) {
			return func(i int) (*http.Request, error) {
				name := fmt.Sprintf("%s-%d-%t-%d.pdf", prefix, n, slow, i)
				var body io.Reader = bytes.NewReader(pdf)
				if slow {
					body = &drip{ctx: ctx, content: pdf}
				}
				r, err := request(st, http.MethodPost, "/storage/v1/object/resources/"+name, body)
				if err == nil {
					r.ContentLength = int64(len(pdf))
					r.Header.Set("Content-Type", "application/pdf")
				}
				return r, err
			}
		}
		l.client(ctx, st, "upload", n, upload(false))
		l.client(ctx, st, "slow upload", n, upload(true))
	}
	for range 4 {
		l.running.Go(func() { l.listen(ctx, st) })
	}
	return l
}

// request returns a request with the service key.
func request(st *server.Stack, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequest(method, st.Get("API_URL")+path, body)
	if err == nil {
		r.Header.Set("Apikey", st.Get("SERVICE_ROLE_KEY"))
		r.Header.Set("Authorization", "Bearer "+st.Get("SERVICE_ROLE_KEY"))
	}
	return r, err
}

// drip is a body that takes a second.
type drip struct {
	ctx     context.Context
	content []byte
}

func (d *drip) Read(p []byte) (int, error) {
	if len(d.content) == 0 {
		return 0, io.EOF
	}
	pause(d.ctx, 50*time.Millisecond) // after the end of the load the rest comes at once
	n := copy(p, d.content[:min(len(d.content), 5_000)])
	d.content = d.content[n:]
	return n, nil
}
