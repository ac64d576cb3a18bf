package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/gateway"
)

// viteStart is how long a request waits for the development server of the site to start.
const viteStart = 30 * time.Second

// openVite runs the development server of the site behind the gateway. A change of the site is
// visible in the browser at once, on the address of the API. built serves /site.json, which the
// program generates.
func openVite(ctx context.Context, in installation.Installation, sockets *handover.Sockets,
	built http.Handler) (http.Handler, error) {
	folder, err := filepath.Abs("web")
	if err != nil {
		return nil, err
	}
	program := filepath.Join(folder, "..", "node_modules", ".bin", "vite")
	if _, err := os.Stat(program); err != nil {
		return nil, errors.New("--dev serves the site from its source, which is not here: run it in the top folder of the repository, after `npm install`")
	}
	l, err := sockets.Listen(handover.ViteSocket, "127.0.0.1", 0, true)
	if err != nil {
		return nil, err
	}
	port := handover.Port(l)
	if err := l.Close(); err != nil { // vite listens on it instead
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	cmd := exec.CommandContext(life, program, "--host", "127.0.0.1", "--port", fmt.Sprint(port), "--strictPort",
		"--clearScreen", "false")
	cmd.Dir = folder
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		end()
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		end()
		return nil, fmt.Errorf("vite: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				in.Log.Info(line, "part", "vite")
			}
		}
		err := cmd.Wait()
		if life.Err() == nil {
			in.Fail(fmt.Errorf("vite exited: %w", err))
		}
	}()
	in.OnClose("vite", func(context.Context) error { end(); <-done; return nil })
	proxy := gateway.Proxy(&url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}, viteStart, in.Log)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/site.json" {
			built.ServeHTTP(w, r)
			return
		}
		// Vite injects changed modules inline, which the policy of the built site forbids.
		w.Header().Set("Content-Security-Policy",
			"default-src 'self' 'unsafe-inline' data: blob: ws:; frame-ancestors 'none'")
		proxy.ServeHTTP(w, r)
	}), nil
}
