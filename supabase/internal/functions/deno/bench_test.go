package deno

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const replies = `Deno.serve(() => new Response("hello"))`

// BenchmarkFirstCall measures a call that starts the process of its function.
func BenchmarkFirstCall(b *testing.B) {
	s, url := serving(b, Limits{}, map[string]string{"hello": replies})
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		if status, code, _ := get(b, url+"/hello"); status != 200 {
			b.Fatal(status, code)
		}
		took = append(took, time.Since(begun))
		b.StopTimer()
		b.ReportMetric(float64(s.Memory())/1e6, "MB-idle")
		s.Restart()
		for len(s.alive()) > 0 {
			time.Sleep(time.Millisecond)
		}
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/float64(time.Millisecond), "ms-first")
}

// BenchmarkWarmCall compares a call through a service with a direct call of plain Deno, in turns.
func BenchmarkWarmCall(b *testing.B) {
	_, url := serving(b, Limits{}, map[string]string{"hello": replies})
	direct := plainDeno(b)
	var through, plain []time.Duration
	timed := func(took *[]time.Duration, url string) {
		begun := time.Now()
		if status, code, _ := get(b, url); status != 200 {
			b.Fatal(status, code)
		}
		*took = append(*took, time.Since(begun))
	}
	get(b, url+"/hello")
	for b.Loop() {
		timed(&through, url+"/hello")
		timed(&plain, direct)
	}
	median := func(took []time.Duration) float64 {
		slices.Sort(took)
		return float64(took[len(took)/2]) / float64(time.Millisecond)
	}
	b.ReportMetric(median(through), "ms-warm")
	b.ReportMetric(median(plain), "ms-plain")
	b.ReportMetric(median(through)-median(plain), "ms-proxy-overhead")
}

// plainDeno starts Deno with the function and without a service, and returns its address.
func plainDeno(b *testing.B) string {
	b.Helper()
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
	return url
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
