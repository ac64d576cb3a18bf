package deno

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const replies = `Deno.serve(() => new Response("hello"))`

// BenchmarkFirstCall measures a call that starts the process of its function.
func BenchmarkFirstCall(b *testing.B) {
	s, url := serving(b, Limits{}, map[string]string{"hello": replies})
	for b.Loop() {
		if status, code, _ := get(b, url+"/hello"); status != 200 {
			b.Fatal(status, code)
		}
		b.StopTimer()
		b.ReportMetric(float64(s.Memory())/1e6, "MB")
		s.Restart()
		for len(s.alive()) > 0 {
			time.Sleep(time.Millisecond)
		}
		b.StartTimer()
	}
}

// BenchmarkWarmCall compares a call through a service with a direct call of plain Deno.
func BenchmarkWarmCall(b *testing.B) {
	b.Run("service", func(b *testing.B) {
		_, url := serving(b, Limits{}, map[string]string{"hello": replies})
		get(b, url+"/hello")
		for b.Loop() {
			if status, code, _ := get(b, url+"/hello"); status != 200 {
				b.Fatal(status, code)
			}
		}
	})
	b.Run("plain", func(b *testing.B) {
		port := freePort(b)
		file := filepath.Join(b.TempDir(), "index.ts")
		if err := os.WriteFile(file, []byte(replies), 0o644); err != nil {
			b.Fatal(err)
		}
		cmd := exec.Command(installed(b), "run", "--quiet", "--allow-net", "--no-config", file)
		cmd.Env = []string{"DENO_SERVE_ADDRESS=tcp:127.0.0.1:" + port, "DENO_DIR=" + b.TempDir()}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		url := "http://127.0.0.1:" + port
		for range 1000 {
			if status, _, _ := get(b, url); status == 200 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		for b.Loop() {
			if status, code, _ := get(b, url); status != 200 {
				b.Fatal(status, code)
			}
		}
	})
}

// freePort returns a port that no program uses.
func freePort(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}
