package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"daawo/scripts/server"
)

// reloadDrill does what a developer does first: a new function, edits, a syntax error and its fix,
// during twenty calls per second. The long form also checks that `make check` passes with the new
// function.
func reloadDrill(ctx context.Context, s settings) (string, error) {
	p, err := newProject(ctx)
	defer p.close()
	if err != nil {
		return "", err
	}
	st, err := server.New(ctx, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()
	st.Stop()
	st.Work, st.Args = p.dir, append(st.Args, "--dev")
	if err := st.Start(ctx); err != nil {
		return "", err
	}

	begun := time.Now()
	if err := p.newFunction(ctx, s.binary, "hello", ""); err != nil {
		return "", err
	}
	if err := awaitText(ctx, st, "Hello Amina!", 2*time.Minute); err != nil { // the first compilation is slow
		return "", err
	}
	first := time.Since(begun)

	calls := begin(ctx, st)
	source, err := os.ReadFile(p.source("hello"))
	if err != nil {
		return "", err
	}
	var edits []time.Duration
	for i := range s.rounds(20, 3) {
		word := fmt.Sprintf("Hello %d ", i)
		begun := time.Now()
		if err := p.write("hello",
			strings.Replace(string(source), `"Hello "`, fmt.Sprintf("%q", word), 1)); err != nil {
			return "", err
		}
		if err := awaitText(ctx, st, word+"Amina!", time.Minute); err != nil {
			return "", err
		}
		edits = append(edits, time.Since(begun))
		pause(ctx, 300*time.Millisecond)
	}
	last := fmt.Sprintf("Hello %d Amina!", s.rounds(20, 3)-1)
	shown, err := slip(ctx, st, p, string(source), last)
	n, dropped := calls.stop()
	if err == nil && !s.short {
		err = p.command(ctx, p.dir, "make", "check")
	}
	slices.Sort(edits)
	slowest := edits[len(edits)-1]
	figures := fmt.Sprintf("new function served after %s, %d edits: half within %s, the slowest %s, error shown after %s, %d calls, dropped %d",
		first.Round(10*time.Millisecond), len(edits), edits[len(edits)/2].Round(10*time.Millisecond),
		slowest.Round(10*time.Millisecond), shown.Round(10*time.Millisecond), n, len(dropped))
	switch {
	case err != nil:
		return figures, err
	case len(dropped) > 0:
		return figures, fmt.Errorf("a call failed: %s", dropped[0])
	case slowest > 2*time.Second:
		return figures, fmt.Errorf("an edit took longer than 2 s")
	}
	return figures, nil
}

// slip makes a syntax error. The terminal must show it while the last version keeps serving. Then
// slip fixes it.
func slip(ctx context.Context, st *server.Stack, p project, source, last string) (time.Duration, error) {
	begun := time.Now()
	if err := p.write("hello", source+"\noops\n"); err != nil {
		return 0, err
	}
	for {
		log, err := st.Log()
		if err != nil {
			return 0, err
		}
		if strings.Contains(log, "the last version of the functions continues: ") &&
			strings.Contains(log, "functions/hello/func.go:") {
			break
		}
		if pause(ctx, 10*time.Millisecond); time.Since(begun) > time.Minute || ctx.Err() != nil {
			return 0, fmt.Errorf("the log does not show the error:\n%s", st.LogTail())
		}
	}
	shown := time.Since(begun)
	if err := awaitText(ctx, st, last, 0); err != nil {
		return shown, fmt.Errorf("during a syntax error: %w", err)
	}
	if err := p.write("hello", source); err != nil {
		return shown, err
	}
	return shown, awaitText(ctx, st, "Hello Amina!", time.Minute)
}

// awaitText waits until the function hello returns a text.
func awaitText(ctx context.Context, st *server.Stack, want string, atMost time.Duration) error {
	for end := time.Now().Add(atMost); ; {
		a := callFunction(ctx, st, "hello", `{"name":"Amina"}`)
		if a.status == http.StatusOK && bytes.Contains(a.body, []byte(want)) {
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("hello returned %d %s %v, want %q", a.status, bytes.TrimSpace(a.body), a.err, want)
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// loop calls hello twenty times per second.
type loop struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	mu      sync.Mutex
	n       int
	dropped []string
}

func begin(ctx context.Context, st *server.Stack) *loop {
	l := &loop{}
	timing, cancel := context.WithCancel(ctx)
	l.cancel = cancel
	l.running.Go(func() {
		for timing.Err() == nil {
			l.running.Go(func() {
				a := callFunction(ctx, st, "hello", `{"name":"Amina"}`)
				l.mu.Lock()
				defer l.mu.Unlock()
				l.n++
				if a.status != http.StatusOK {
					l.dropped = append(l.dropped, fmt.Sprintf("%d %s %v", a.status, a.body, a.err))
				}
			})
			pause(timing, 50*time.Millisecond)
		}
	})
	return l
}

// stop ends the calls and waits for their replies.
func (l *loop) stop() (n int, dropped []string) {
	l.cancel()
	l.running.Wait()
	return l.n, l.dropped
}
