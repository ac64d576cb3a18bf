package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"daawo/scripts/server"
)

// jailFacts are what the hostile function knows: more than an attacker would.
type jailFacts struct {
	Data, API, Database string
	Sockets             []string
	Server              int
}

// jailDrill deploys a hostile function, which tries what a deployed bundle must not do. Then it
// starts programs without end and fills the memory, while another function of the stack is called.
func jailDrill(ctx context.Context, s settings) (string, error) {
	p, err := newProject(ctx)
	defer p.close()
	if err != nil {
		return "", err
	}
	st, err := server.New(ctx, s.binary, append(publicSite("9"), "DRILL_SECRET=of the server")...)
	if err != nil {
		return "", err
	}
	defer st.Close()
	source, err := os.ReadFile("scripts/drill/testdata/hostile.go.txt")
	if err != nil {
		return "", err
	}
	if err := p.newFunction(ctx, s.binary, "hostile", string(source)); err != nil {
		return "", err
	}
	if err := operate(ctx, s.binary, st, "deploy", "--workdir", p.dir); err != nil {
		return "", err
	}
	facts := jailFacts{Data: st.Data(), API: st.Get("API_URL"), Database: st.Get("DB_URL"), Server: st.PID()}
	if facts.Sockets, err = openSockets(st); err != nil {
		return "", err
	}
	var tried map[string]string
	if err := hostile(ctx, st, "all", facts, &tried); err != nil {
		return "", err
	}
	var done []string
	for _, name := range []string{"use its own role", "do what service_role may"} {
		if why, failed := tried[name]; failed {
			return "", fmt.Errorf("a deployed function cannot %s: %s", name, why)
		}
	}
	for name, outcome := range tried {
		if outcome == "done" {
			done = append(done, name)
		}
	}
	figures := fmt.Sprintf("%d attempts, %d succeeded", len(tried), len(done))
	if len(done) > 0 || len(tried) < 30 {
		return figures, fmt.Errorf("a deployed function can: %s", strings.Join(done, ", "))
	}
	var started map[string]string
	if err := hostile(ctx, st, "fork", facts, &started); err != nil {
		return figures, err
	}
	figures += fmt.Sprintf("; of 2,000 programs %s started", started["started"])
	if started["refused"] != "true" {
		return figures, errors.New("nothing limits the number of programs")
	}
	begun := time.Now()
	if err := hostile(ctx, st, "memory", facts, &started); err == nil {
		return figures, errors.New("the function filled the memory and continued")
	}
	for ctx.Err() == nil && hostile(ctx, st, "nothing", facts, &started) != nil {
		pause(ctx, 100*time.Millisecond)
	}
	figures += fmt.Sprintf("; ended for its memory and back after %s", time.Since(begun).Round(100*time.Millisecond))
	return figures, st.Ready(ctx)
}

// hostile calls the function.
func hostile(ctx context.Context, st *server.Stack, what string, facts jailFacts, into any) error {
	body, err := json.Marshal(map[string]any{"what": what, "facts": facts})
	if err != nil {
		return err
	}
	a := callFunction(ctx, st, "hostile", string(body))
	if a.status != http.StatusOK {
		return fmt.Errorf("hostile %s: status %d: %s, %v", what, a.status, a.body, a.err)
	}
	return json.Unmarshal(a.body, into)
}

// openSockets returns the paths of the listening Unix sockets of the server and of its Postgres.
func openSockets(st *server.Stack) (paths []string, err error) {
	postmaster, err := st.Postmaster()
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, pid := range []int{st.PID(), postmaster} {
		files, err := filepath.Glob(fmt.Sprint("/proc/", pid, "/fd/*"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if to, err := os.Readlink(file); err == nil { // it may have been closed
				own[to] = true
			}
		}
	}
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 8 && own["socket:["+fields[6]+"]"] {
			paths = append(paths, fields[7])
		}
	}
	if len(paths) == 0 {
		return nil, errors.New("the server has no sockets")
	}
	return paths, nil
}
