package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/scripts/server"
)

// typeScripts are the sources of functions: each of a third of all.
var typeScripts = []string{
	`Deno.serve(async (r) => Response.json({ name: NAME, body: await r.json() }));`,
	`Deno.serve(async () => {
	await new Promise((resolve) => setTimeout(resolve, 20 + 60 * Math.random()));
	return Response.json({ name: NAME });
});`,
	`Deno.serve(() => {
	let part = 0;
	const body = new ReadableStream({
		async pull(c) {
			await new Promise((resolve) => setTimeout(resolve, 5));
			c.enqueue(new TextEncoder().encode(part++ === 0 ? NAME : " "));
			if (part === 5) c.close();
		},
	});
	return new Response(body);
});`,
}

const (
	typeScriptFunctions = 30
	typeScriptCallers   = 8
	// bytes that a process may have: the limit of a function, see docs/functions.md
	typeScriptMemory = 384 << 20
)

// typeScriptProject writes a project with the functions and a table.
func typeScriptProject() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "daawo-typescript-"); err != nil {
		return "", err
	}
	files := map[string]string{
		"config.toml": "project_id = \"typescript\"\n",
		"migrations/20260101000000_notes.sql": `create table public.notes (id int primary key, text text);
insert into public.notes select i, 'note ' || i from generate_series(1, 1000) i;
alter table public.notes enable row level security;
create policy all_rows on public.notes for select using (true);
grant select on public.notes to anon;`,
	}
	for i := range typeScriptFunctions {
		source := strings.ReplaceAll(typeScripts[i%len(typeScripts)], "NAME", fmt.Sprintf("%q", functionName(i)))
		files["functions/"+functionName(i)+"/index.ts"] = source
	}
	for name, text := range files {
		file := filepath.Join(dir, "supabase", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return dir, err
		}
	}
	return dir, os.Chmod(dir, 0o755)
}

func functionName(i int) string { return fmt.Sprintf("function-%02d", i) }

// typeScriptDrill calls functions while their processes are killed. Each call must end, with the
// reply of its function or with an error of the server that has a code. REST is read alone before
// and after, because a single percentile of few seconds varies by half.
func typeScriptDrill(ctx context.Context, s settings) (string, error) {
	dir, err := typeScriptProject()
	defer os.RemoveAll(dir)
	if err != nil {
		return "", err
	}
	program, err := denoProgram()
	if err != nil {
		return "", err
	}
	st, err := server.NewFor(ctx, dir, s.binary, "DENO_PATH="+program)
	if err != nil {
		return "", err
	}
	defer st.Close()
	calls := s.rounds(1000, 150)
	if _, err := readNotes(ctx, st, time.Second); err != nil { // warm up
		return "", err
	}
	window := time.Duration(s.rounds(20, 3)) * time.Second
	alone, err := readNotes(ctx, st, window)
	if err != nil {
		return "", err
	}
	busy, end := context.WithCancel(ctx)
	var others sync.WaitGroup
	k := &killer{st: st}
	others.Go(func() { k.run(busy) })
	var beside []time.Duration
	var restErr error
	others.Go(func() { beside, restErr = readNotes(busy, st, time.Hour) })
	c := &typeScriptCalls{}
	begun := time.Now()
	c.make(ctx, st, calls)
	took := time.Since(begun)
	end()
	others.Wait()
	after := c.failed
	for i := range typeScriptFunctions { // all serve again
		c.one(ctx, st, i)
	}
	again, err := readNotes(ctx, st, window)
	if err != nil {
		return "", err
	}
	calm, rest := restP99(append(alone, again...)), restP99(beside)
	figures := fmt.Sprintf("%d calls in %s, %d processes killed: %d replies, %d errors with a code (%v), "+
		"the longest %s; memory of a process at most %d MB; p99 of REST alone %s, beside %s", calls, took.Round(time.Second), k.killed,
		c.replied, after, c.codes, c.longest.Round(time.Millisecond), k.most>>20, calm, rest)
	switch {
	case restErr != nil:
		return figures, restErr
	case c.wrong != nil:
		return figures, c.wrong
	case c.failed > after:
		return figures, fmt.Errorf("after the kills %d functions do not serve", c.failed-after)
	case k.killed == 0:
		return figures, errors.New("no process was killed")
	case k.most > typeScriptMemory:
		return figures, errors.New("a process exceeds the memory limit")
	case !s.short && rest > 2*calm: // in the short form every fourth call waits for a start
		return figures, errors.New("REST is slower than twice")
	}
	return figures, nil
}

// denoProgram returns the Deno that `npm ci` installs.
func denoProgram() (string, error) {
	found, err := filepath.Glob("node_modules/@deno/*/deno")
	if err == nil && len(found) == 0 {
		err = errors.New("node_modules has no Deno: run `npm ci`")
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(found[0])
}

// restP99 returns the 99th percentile.
func restP99(took []time.Duration) time.Duration {
	return percentile(took, 0.99).Round(100 * time.Microsecond)
}

// readNotes reads rows over REST as four clients and returns how long each request took.
func readNotes(ctx context.Context, st *server.Stack, howLong time.Duration) ([]time.Duration, error) {
	return fourClients(ctx, howLong, func(ctx context.Context, _ int) error {
		a := call{path: "/rest/v1/notes?order=id&limit=25", key: st.Get("ANON_KEY")}.send(ctx, st)
		if a.status != http.StatusOK {
			return fmt.Errorf("REST replied %d %s %v", a.status, a.body, a.err)
		}
		return nil
	})
}

// typeScriptCalls counts the outcomes of calls.
type typeScriptCalls struct {
	mu              sync.Mutex
	replied, failed int
	codes           map[string]int
	longest         time.Duration
	wrong           error // one of the other outcomes
}

// make makes n calls of random functions.
func (c *typeScriptCalls) make(ctx context.Context, st *server.Stack, n int) {
	next := make(chan int)
	var callers sync.WaitGroup
	for range typeScriptCallers {
		callers.Go(func() {
			for i := range next {
				c.one(ctx, st, i)
				pause(ctx, 100*time.Millisecond)
			}
		})
	}
	for range n {
		next <- rand.IntN(typeScriptFunctions)
	}
	close(next)
	callers.Wait()
}

// one calls a function. A reply that broke off counts as an error with a code, because its status
// was sent before.
func (c *typeScriptCalls) one(ctx context.Context, st *server.Stack, i int) {
	begun := time.Now()
	a := callFunction(ctx, st, functionName(i), `{"x":1}`)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.longest = max(c.longest, time.Since(begun))
	if c.codes == nil {
		c.codes = map[string]int{}
	}
	code := a.header.Get("Sb-Error-Code")
	switch {
	case a.header != nil && errors.Is(a.err, io.ErrUnexpectedEOF):
		c.failed++
		c.codes["broke off"]++
	case a.status == http.StatusOK && bytes.Contains(a.body, []byte(functionName(i))):
		c.replied++
	case a.status >= 500 && code != "":
		c.failed++
		c.codes[strconv.Itoa(a.status)+" "+code]++
	default:
		c.wrong = fmt.Errorf("%s replied %d %q %v", functionName(i), a.status, a.body, a.err)
	}
}

// killer kills processes of functions and measures their memory.
type killer struct {
	st     *server.Stack
	killed int
	most   int64 // bytes of the largest process
}

// run kills a random process every half second until ctx ends.
func (k *killer) run(ctx context.Context) {
	for ; ctx.Err() == nil; pause(ctx, 500*time.Millisecond) {
		pids := k.processes()
		if len(pids) > 0 && syscall.Kill(pids[rand.IntN(len(pids))], syscall.SIGKILL) == nil {
			k.killed++
		}
	}
}

// processes returns the children of the server that run Deno. It starts no program for that: the
// machine is being measured.
func (k *killer) processes() (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", k.st.PID())) // the pattern is valid
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for word := range strings.FieldsSeq(string(children)) {
			pid, _ := strconv.Atoi(word) // the kernel writes numbers
			if size := denoSize(pid); size > 0 {
				pids, k.most = append(pids, pid), max(k.most, size)
			}
		}
	}
	return pids
}

// denoSize returns the resident bytes of a process that runs Deno, 0 for another one.
func denoSize(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // empty after its end
	if !strings.HasPrefix(string(text), "Name:\tdeno\n") {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nVmRSS:")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	size, _ := strconv.ParseInt(kilobytes, 10, 64) // missing while it ends
	return size << 10
}
