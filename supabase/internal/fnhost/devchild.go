package fnhost

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"daawo/functions/edge"
)

// ChildConfig is the configuration of a child process. The parent writes it as a line of JSON to the child's standard input. Further
// lines replace Keys and Env. The end of the input ends the child.
type ChildConfig struct {
	Socket     string            `json:"socket"` // path of the child's socket; startChild sets it
	Database   string            `json:"database"`
	Keys       json.RawMessage   `json:"keys"` // JWK array that verifies tokens
	Env        map[string]string `json:"env"`
	EnvFile    string            `json:"env_file"` // functions/.env
	Region     string            `json:"region"`
	WebhookURL string            `json:"webhook_url"`
	Limited    bool              `json:"limited"` // whether clients are limited, by X-Forwarded-For
}

// process is a version of the functions in a child process.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	client *http.Client
	proxy  *httputil.ReverseProxy
	calls  sync.WaitGroup
	exited chan struct{}
}

// startChild starts a program and waits until it replies.
func startChild(ctx context.Context, program, socket string, config ChildConfig, log *slog.Logger) (*process, error) {
	config.Socket = socket
	cmd := exec.Command(program) // ends after its standard input and its calls
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = cmd.Stderr // shows the output of functions
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	transport := &http.Transport{
		MaxIdleConnsPerHost: 64,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}
	p := &process{cmd: cmd, stdin: stdin, client: &http.Client{Transport: transport}, exited: make(chan struct{})}
	p.proxy = &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // streams
		Rewrite:       toChild,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			log.ErrorContext(r.Context(), "functions process does not reply", "error", err)
			w.Header().Set("Retry-After", "1")
			fail(w, http.StatusServiceUnavailable, "BOOT_ERROR", "Worker failed to boot (please check logs)")
		},
	}
	var output bytes.Buffer // for the error of a failed start
	var mu sync.Mutex
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			mu.Lock()
			if output.Len() < 1<<16 {
				output.WriteString(lines.Text() + "\n")
			}
			mu.Unlock()
			relay(log, lines.Bytes())
		}
	}()
	go func() {
		defer close(p.exited)
		<-read // Wait closes the pipe
		_ = cmd.Wait()
		transport.CloseIdleConnections()
	}()
	if err = p.configure(config); err == nil {
		err = p.awaitReady(ctx)
	}
	if err != nil {
		p.retire(ctx)
		mu.Lock()
		defer mu.Unlock()
		return nil, fmt.Errorf("%w\n%s", err, strings.TrimSpace(output.String()))
	}
	return p, nil
}

// toChild forwards a call with the gateway's headers about the client, which a ReverseProxy removes.
func toChild(r *httputil.ProxyRequest) {
	r.SetURL(&url.URL{Scheme: "http", Host: "functions"})
	r.Out.Host = r.In.Host
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix"} {
		if v := r.In.Header.Get(name); v != "" {
			r.Out.Header.Set(name, v)
		}
	}
}

// relay logs a log line of a child, with its attributes in the same order. Another line, such as printed text, is logged as it is.
func relay(log *slog.Logger, line []byte) {
	var record struct {
		Level *slog.Level `json:"level"`
		Msg   string      `json:"msg"`
	}
	if json.Unmarshal(line, &record) != nil || record.Level == nil {
		log.Info(string(line))
		return
	}
	var attrs []slog.Attr
	fields := json.NewDecoder(bytes.NewReader(line))
	fields.UseNumber()
	_, err := fields.Token() // the brace
	for err == nil && fields.More() {
		var name json.Token
		var v any
		name, err = fields.Token()
		if err == nil {
			err = fields.Decode(&v)
		}
		if s, ok := name.(string); ok && s != "time" && s != "level" && s != "msg" {
			attrs = append(attrs, slog.Any(s, v))
		}
	}
	log.LogAttrs(context.Background(), *record.Level, record.Msg, attrs...)
}

// awaitReady waits until the child's health check succeeds.
func (p *process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://functions/_internal/health", nil)
		if err != nil {
			return err
		}
		if res, err := p.client.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.exited:
			return errors.New("functions process exited")
		case <-ctx.Done():
			return errors.New("functions process does not serve")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// configure sends the child its configuration.
func (p *process) configure(config ChildConfig) error {
	line, err := json.Marshal(config)
	if err != nil {
		return err
	}
	_, err = p.stdin.Write(append(line, '\n'))
	return err
}

func (p *process) begin() { p.calls.Add(1) }
func (p *process) end()   { p.calls.Done() }

// ServeHTTP forwards a call to the child.
func (p *process) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.proxy.ServeHTTP(w, r) }

// RunSchedule runs scheduled work in the child.
func (p *process) RunSchedule(ctx context.Context, name string) error {
	return p.run(ctx, "/_internal/schedule/"+name, nil)
}

// RunJob runs a job in the child.
func (p *process) RunJob(ctx context.Context, name, job string, args []byte) error {
	return p.run(ctx, "/_internal/job/"+name+"/"+job, args)
}

func (p *process) run(ctx context.Context, path string, args []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://functions"+path, bytes.NewReader(args))
	if err != nil {
		return err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil || res.StatusCode == http.StatusNoContent {
		return err
	}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		return edge.Snooze(time.Duration(seconds) * time.Second)
	}
	return errors.New(strings.TrimSpace(string(text)))
}

// retire ends the process after its calls, or when ctx ends. After 15 s it kills the process.
func (p *process) retire(ctx context.Context) {
	over := make(chan struct{})
	go func() {
		p.calls.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
	_ = p.stdin.Close()
	select {
	case <-p.exited:
	case <-time.After(15 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	_ = os.Remove(p.cmd.Path)
}

// ChildHandler returns the handler for the private socket of a child. The parent also starts scheduled work and jobs there.
func (h *Host) ChildHandler() http.Handler {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, err error) {
		if err != nil {
			if snooze, ok := errors.AsType[edge.SnoozeError](err); ok {
				w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(snooze.After.Seconds()))))
			}
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	mux.HandleFunc("GET /_internal/schedules", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(h.Schedules()) // the parent reports a broken connection
	})
	mux.HandleFunc("POST /_internal/schedule/{name}", func(w http.ResponseWriter, r *http.Request) {
		reply(w, h.RunSchedule(r.Context(), r.PathValue("name")))
	})
	mux.HandleFunc("POST /_internal/job/{name}/{job}", func(w http.ResponseWriter, r *http.Request) {
		args, err := io.ReadAll(r.Body)
		if err == nil {
			err = h.RunJob(r.Context(), r.PathValue("name"), r.PathValue("job"), args)
		}
		reply(w, err)
	})
	mux.Handle("/", h)
	return mux
}
