package deploy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"daawo/supabase/edge"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/host"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// hosting returns a host of these functions, without a database.
func hosting(t testing.TB, functions map[string]edge.Func, change ...func(*host.Options)) *host.Host {
	t.Helper()
	o := host.Options{Functions: functions, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}
	h, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return h
}

func serve(h http.Handler, method, path string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// locked is a writer for several goroutines.
type locked struct {
	*sync.Mutex
	io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Writer.Write(p)
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// project returns the folder of a project without functions, whose module is notes. It uses this
// repository's packages.
func project(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	repo, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(repo, file))
		if err != nil {
			t.Fatal(err)
		}
		if file == "go.mod" {
			text = bytes.Replace(text, []byte("module daawo\n"), []byte("module notes\n"), 1)
			text = fmt.Appendf(text, "\nrequire daawo v0.0.0\n\nreplace daawo => %s\n", repo)
		}
		write(t, filepath.Join(root, file), string(text))
	}
	return root
}

// bundles is the program of testdata/bundle.go.txt, built once per test binary.
var bundles struct {
	sync.Once
	program []byte
	err     error
}

// bundle returns a bundle with a mode of testdata/bundle.go.txt.
func bundle(t *testing.T, mode string) []byte {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the Go compiler")
	}
	bundles.Do(func() {
		root := project(t)
		source, err := os.ReadFile("testdata/bundle.go.txt")
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, "functions/functions.go"), string(source))
		file := filepath.Join(root, "bundle")
		if bundles.err = child.BuildBundle(t.Context(), root, file, runtime.GOOS, runtime.GOARCH); bundles.err == nil {
			bundles.program, bundles.err = os.ReadFile(file)
		}
	})
	if bundles.err != nil {
		t.Fatal(bundles.err)
	}
	return append(bytes.Clone(bundles.program), "#"+mode...)
}
