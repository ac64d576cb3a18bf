package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// outcome is how many functions of a project have each result.
type outcome struct {
	functions int
	causes    map[string]int // of those that do not boot
}

func (o *outcome) add(other outcome) {
	o.functions += other.functions
	for cause, n := range other.causes {
		o.causes[cause] += n
	}
}

// booted returns how many functions boot.
func (o outcome) booted() int {
	n := o.functions
	for _, failed := range o.causes {
		n -= failed
	}
	return n
}

// unreachable returns how many functions import from a host that this machine cannot reach.
func (o outcome) unreachable() (n int) {
	for cause, failed := range o.causes {
		if strings.HasPrefix(cause, remoteCause) {
			n += failed
		}
	}
	return n
}

// text returns the causes, the most frequent one first.
func (o outcome) text() string {
	var parts []string
	for _, cause := range slices.SortedFunc(maps.Keys(o.causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.causes[b], o.causes[a]), strings.Compare(a, b))
	}) {
		parts = append(parts, fmt.Sprintf("%d: %s", o.causes[cause], cause))
	}
	return strings.Join(parts, "; ")
}

// runFunctions calls each function in TypeScript of the corpus once and prints which ones boot. The
// projects start without their migrations, of which the start of a function is independent. With
// fromNPM, modules of other hosts come from npm where it has them.
func (c *corpus) runFunctions(ctx context.Context, fromNPM bool) error {
	entries, err := c.entries()
	if err != nil {
		return err
	}
	if c.program, err = filepath.Abs(c.program); err != nil {
		return err
	}
	fmt.Println("| project | functions | boot | causes of the others |")
	fmt.Println("|---|---|---|---|")
	all := outcome{causes: map[string]int{}}
	for _, e := range entries {
		if !strings.Contains(e.name(), c.only) {
			continue
		}
		o, err := c.callFunctions(ctx, e, fromNPM)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name(), err)
		}
		if o.functions > 0 {
			fmt.Printf("| %s | %d | %d | %s |\n", e.name(), o.functions, o.booted(), o.text())
			all.add(o)
		}
	}
	reachable := all.functions - all.unreachable()
	fmt.Printf("\n%d functions, %d boot. %d import from hosts that were not reached; of the other %d, %.1f %% boot.\n"+
		"%s\n", all.functions, all.booted(), all.unreachable(), reachable,
		100*float64(all.booted())/max(1, float64(reachable)), all.text())
	return nil
}

// callFunctions starts one project without its migrations and calls its functions.
func (c *corpus) callFunctions(ctx context.Context, e entry, fromNPM bool) (o outcome, err error) {
	o.causes = map[string]int{}
	dir, err := os.MkdirTemp("", "corpus-functions-")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(os.Chmod(dir, 0o755), extract(ctx, c.cache, e, dir)); err != nil {
		return o, err
	}
	home := filepath.Join(dir, e.folder)
	names, err := functionNames(filepath.Join(home, "supabase", "functions"))
	if len(names) == 0 || err != nil {
		return o, err
	}
	if err := leaveFunctions(filepath.Join(home, "supabase")); err != nil {
		return o, err
	}
	if fromNPM {
		if err := importFromNPM(filepath.Join(home, "supabase")); err != nil {
			return o, err
		}
	}
	o.functions = len(names)
	stack, err := c.startStack(ctx, home, filepath.Join(dir, "data"))
	if err != nil {
		o.causes["the project does not start: "+err.Error()] = len(names)
		return o, nil
	}
	var mu sync.Mutex
	var calls sync.WaitGroup
	atOnce := make(chan struct{}, 2)
	for _, name := range names {
		calls.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			if cause := stack.boots(ctx, name, home); cause != "" {
				mu.Lock()
				defer mu.Unlock()
				o.causes[cause]++
			}
		})
	}
	calls.Wait()
	return o, stack.stop()
}

// leaveFunctions removes what the functions do not need from a folder supabase/, and gives them a
// value for each secret that they name.
func leaveFunctions(dir string) error {
	for _, name := range []string{"migrations", "schemas", "seed.sql", "roles.sql"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	config := filepath.Join(dir, "config.toml")
	if text, err := os.ReadFile(config); err == nil {
		if err := os.WriteFile(config, seedPaths.ReplaceAll(text, []byte("sql_paths = []")), 0o644); err != nil {
			return err
		}
	}
	named := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(dir, "functions"), func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		for _, m := range secretName.FindAllSubmatch(text, -1) {
			named[string(m[1])] = !strings.HasPrefix(string(m[1]), "SUPABASE_")
		}
		return err
	})
	if err != nil {
		return err
	}
	values, err := newSecrets()
	if err != nil {
		return err
	}
	var env strings.Builder
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if named[name] {
			fmt.Fprintf(&env, "%s=%s\n", name, values.of(name))
		}
	}
	return os.WriteFile(filepath.Join(dir, "functions", ".env"), []byte(env.String()), 0o600)
}

var (
	seedPaths  = regexp.MustCompile(`(?m)^\s*sql_paths\s*=\s*(\[[^\]]*\]|.*$)`)
	secretName = regexp.MustCompile(`["']([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["']`)
)

// functionNames returns the names of the folders with a main file.
func functionNames(dir string) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "[A-Za-z]*", "index.*"))
	main := regexp.MustCompile(`^index\.(tsx?|jsx?|mjs)$`)
	for _, file := range files {
		if name := filepath.Base(filepath.Dir(file)); main.MatchString(filepath.Base(file)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// stack is a running program.
type stack struct {
	cmd      *exec.Cmd
	url, key string
	exited   chan struct{}
}

// startStack starts the program and waits until it is ready.
func (c *corpus) startStack(ctx context.Context, home, data string) (*stack, error) {
	cmd := exec.CommandContext(ctx, c.program, "start", "--port", "0", "--workdir", home, "--data", data)
	cmd.Env = append(environment(), passed()...)
	cmd.Dir = filepath.Dir(data)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &stack{cmd: cmd, exited: make(chan struct{})}
	ready := make(chan struct{})
	go func() {
		defer close(s.exited)
		var once sync.Once
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "ready in") {
				once.Do(func() { close(ready) })
			}
		}
		_ = cmd.Wait() // the reason is in stderr
	}()
	select {
	case <-ready:
	case <-s.exited:
		return nil, errors.New(lastLine(stderr.String()))
	case <-time.After(startLimit):
		_ = s.stop()
		return nil, fmt.Errorf("not ready after %v", startLimit)
	}
	out, err := exec.CommandContext(ctx, c.program, "status", "--data", data, "-o", "json").Output()
	var values struct {
		URL string `json:"API_URL"`
		Key string `json:"ANON_KEY"`
	}
	if err == nil {
		err = json.Unmarshal(out, &values)
	}
	s.url, s.key = values.URL, values.Key
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// passed returns the variables with which Deno fetches modules.
func passed() (variables []string) {
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "DENO_PATH", "NPM_CONFIG_REGISTRY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "DENO_CERT", "SSL_CERT_FILE",
			"NODE_EXTRA_CA_CERTS":
			variables = append(variables, v)
		}
	}
	return variables
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// stop ends the program.
func (s *stack) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.exited:
		return nil
	case <-time.After(time.Minute):
		return errors.Join(errors.New("the program does not end"), s.cmd.Process.Kill())
	}
}

// callLimit is how long a function may take to start and reply.
const callLimit = 3 * time.Minute

// boots calls a function and returns why it does not boot, "" if it does: it may reply with an
// error of its own, because its secrets and tables are missing.
func (s *stack) boots(ctx context.Context, name, home string) (cause string) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/functions/v1/"+name, strings.NewReader("{}"))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "no reply: " + err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	switch code := res.Header.Get("Sb-Error-Code"); {
	case err != nil:
		return "the reply broke off"
	case code == "NOT_FOUND":
		return "off in config.toml"
	case code != "BOOT_ERROR" && code != "NOT_IMPLEMENTED" && code != "OVERLOADED":
		return ""
	}
	var reply struct{ Message string }
	if err := json.Unmarshal(text, &reply); err != nil {
		return string(text)
	}
	return bootCause(strings.ReplaceAll(reply.Message, "file://"+home+"/", ""))
}

const remoteCause = "imports from "

var (
	remoteImport = regexp.MustCompile(`(?:[Ii]mport|specifier|package|Module not found)[^\n]*["'](https?://[^/"']+)`)
	errorLine    = regexp.MustCompile(`(?m)^(?:error: )(.*)`)
	missingFile  = regexp.MustCompile(`Module not found "([^"]+)"`)
)

// bootCause returns a short cause for Deno's message.
func bootCause(message string) string {
	if m := remoteImport.FindStringSubmatch(message); m != nil {
		return remoteCause + strings.TrimPrefix(m[1], "https://")
	}
	if m := missingFile.FindStringSubmatch(message); m != nil {
		return "own mistake: there is no file " + m[1]
	}
	first, _, _ := strings.Cut(message, "\n")
	if m := errorLine.FindStringSubmatch(message); m != nil {
		first = m[1]
	}
	return strings.ReplaceAll(first, "|", `\|`)
}
