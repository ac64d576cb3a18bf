// Package child is the main function of a program that holds edge functions alone. `start --dev`
// generates and builds such a program whenever the source of the functions changes, and talks to it
// over a unix socket (child.Dev of functions). Only programs that the stack generates import it.
package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/observe/logattr"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jobs/queue"
)

// Main hosts the functions until the parent process closes the standard input. It ends the process
// on an error.
func Main(functions map[string]edge.Func) {
	signal.Ignore(os.Interrupt) // Ctrl-C reaches the parent as well, which ends this process after its calls
	if err := run(functions); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(functions map[string]edge.Func) error {
	ctx := context.Background()
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("this program is started by `daawo start`: %w", err)
	}
	var c host.ChildConfig
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: logattr.Seconds}))
	var settings settings
	if err := settings.take(c); err != nil {
		return err
	}
	parent, err := host.NewParent(c.Parent, log)
	if err != nil {
		return err
	}
	var traces *tracing.Provider
	if c.Spans {
		if traces, err = parent.Traces(ctx); err != nil {
			return err
		}
	}
	defer func() {
		closing, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if err := traces.Close(closing); err != nil {
			log.Warn("the last spans were not sent", "error", err)
		}
	}()
	h, pool, err := open(ctx, functions, c, &settings, parent, traces, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	socket := os.NewFile(host.ChildSocket, "socket")
	listener, err := net.FileListener(socket)
	if err = errors.Join(err, socket.Close()); err != nil {
		return err
	}
	server := &http.Server{Handler: h.ChildHandler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var draining sync.Once
	go func() {
		for more := json.NewDecoder(input); ; { // until the parent closes it or ends
			var c host.ChildConfig
			if err := more.Decode(&c); err != nil {
				break
			}
			if err := settings.take(c); err != nil {
				log.Error("reading new keys failed", "error", err)
			}
			if c.Draining {
				draining.Do(func() { go releaseIdle(pool) })
			}
		}
		_ = server.Shutdown(ctx)
	}()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return h.Close(ctx)
}

// maxConns is the number of database connections, as many as the functions in the stack itself may
// have.
const maxConns = 8

// releaseIdle closes idle connections every second, until the process ends.
func releaseIdle(pool *pool.Pool) {
	for {
		pool.Pgx().Reset()
		time.Sleep(time.Second)
	}
}

// settings are the values that the parent changes while the functions run, for instance when keys
// are rotated.
type settings struct {
	verifier atomic.Pointer[keys.Verifier]
	env      atomic.Pointer[map[string]string]
}

func (s *settings) take(c host.ChildConfig) error {
	checking, err := keys.ParseSet(string(c.Keys))
	if err != nil {
		return err
	}
	s.verifier.Store(keys.NewVerifier(keys.Options{RefuseIDTokens: true}, checking...))
	s.env.Store(&c.Env)
	return nil
}

func open(ctx context.Context, functions map[string]edge.Func, c host.ChildConfig, s *settings, parent *host.Parent,
	traces *tracing.Provider, log *slog.Logger) (*host.Host, *pool.Pool, error) {
	pool, err := pool.Open(ctx, pool.Config{URL: c.Database, MaxConns: maxConns, ApplicationName: "daawo-functions",
		Log: log, Tracer: traces.Statements()})
	if err != nil {
		return nil, nil, err
	}
	adder := &queue.Adder{ToWebhook: c.Webhook}
	host, err := host.New(host.Options{
		Functions: functions, DB: pool, Outbox: adder, Region: c.Region, Parent: parent, Log: log, Traces: traces,
		Verify: func(token string) (json.RawMessage, error) {
			return parent.Verify(token, s.verifier.Load())
		},
		Getenv: func(name string) string {
			return host.Lookup(*s.env.Load(), c.FileEnv, func(name string) (string, bool) {
				value, ok := c.Declared[name]
				return value, ok
			})(name)
		},
		Client: func(r *http.Request) string {
			if !c.Limited {
				return ""
			}
			return r.Header.Get("X-Forwarded-For")
		},
	})
	return host, pool, err
}
