package deploy

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/host"
)

// benchBundle builds the functions of testdata/bundle.go.txt.
func benchBundle(b *testing.B) []byte {
	b.Helper()
	root := project(b)
	source, err := os.ReadFile("testdata/bundle.go.txt")
	if err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Join(root, "functions/functions.go"), string(source))
	file := filepath.Join(root, "bundle")
	if err := child.BuildBundle(b.Context(), root, file, runtime.GOOS, runtime.GOARCH); err != nil {
		b.Fatal(err)
	}
	program, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	return append(program, "#bench"...)
}

// BenchmarkBundle measures a deployed bundle: how much longer a call takes than the same function
// in the host (p50, call by call), how long a cold start takes, and the memory of an idle process.
func BenchmarkBundle(b *testing.B) {
	program := benchBundle(b)
	built := hosting(b, map[string]edge.Func{"hello": {NoVerifyJWT: true,
		Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
			return edge.WriteJSON(w, http.StatusOK, "bench")
		}}})
	d, err := New(b.Context(), Options{
		Dir: b.TempDir(), Host: built, Base: built, Log: slog.New(slog.DiscardHandler),
		Built: func() []host.FunctionInfo { return built.Describe().Functions },
		Child: func() (host.ChildConfig, error) {
			return host.ChildConfig{Database: "postgres://127.0.0.1:1/none", Keys: []byte(`[]`)}, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close(context.Background()) })
	v, err := d.Deploy(b.Context(), bytes.NewReader(program), "", false)
	if err != nil {
		b.Fatal(err)
	}
	memory := d.MemoryUse()
	var starts []time.Duration
	for range 5 {
		again := d.prepare(v)
		begun := time.Now()
		if err := again.start(b.Context()); err != nil {
			b.Fatal(err)
		}
		starts = append(starts, time.Since(begun))
		again.discard()
	}
	r := httptest.NewRequest(http.MethodPost, "/hello", http.NoBody)
	var inChild, inHost []time.Duration
	for b.Loop() {
		begun := time.Now()
		built.ServeHTTP(httptest.NewRecorder(), r.Clone(b.Context()))
		mid := time.Now()
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r.Clone(b.Context()))
		inHost, inChild = append(inHost, mid.Sub(begun)), append(inChild, time.Since(mid))
		if w.Code != http.StatusOK {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	b.ReportMetric(float64((median(inChild)-median(inHost)).Nanoseconds())/1000, "µs-child-overhead")
	b.ReportMetric(float64(median(starts).Milliseconds()), "ms-cold-start")
	b.ReportMetric(float64(memory)/1e6, "MB-idle")
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
