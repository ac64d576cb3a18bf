package app

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/lifecycle"
)

// TestStartWithoutFunctions checks that all but the functions serves if those cannot be built, here
// because Go is missing. /readyz says so, and an upgrade does not switch to such a server.
func TestStartWithoutFunctions(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module notes\n", "functions/functions.go": "package functions\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data := dataFolder(t)
	server, next := newApp(t, data, nil), newApp(t, data, nil)
	server.process.Spawn = func(ctx context.Context, _ handover.Program, facts any,
		files *handover.Files) (*handover.Server, error) {
		return handover.StartWithin(ctx, facts, files, func(connect handover.Connect) (err error) {
			if err = next.process.Connect(connect); err != nil {
				return err
			}
			return next.Run(context.Background(), func(Info) {})
		})
	}
	for _, a := range []*App{server, next} {
		a.Functions, a.FunctionsDir = nil, root
	}
	info := start(t, server)
	api := info.Get("API_URL")
	status, body := call(t, "GET", api+"/rest/v1/notes", "", "apikey", info.Get("SECRET_KEY"))
	if status != http.StatusOK {
		t.Errorf("REST: %d %s", status, body)
	}
	waitFor(t, "the reason at the functions", func() bool {
		status, body := call(t, "POST", api+"/functions/v1/hello", "{}", "apikey", info.Get("SECRET_KEY"))
		return status == http.StatusServiceUnavailable && strings.Contains(body, "need Go to be built: install it")
	})
	if status, body := call(t, "GET", api+"/readyz", ""); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, `"functions":"failing"`) || strings.Contains(body, "install") {
		t.Errorf("readyz: %d %s", status, body)
	}
	var list control.FunctionsInfo
	if err := control.Command(t.Context(), data, "/functions/list", &list); err != nil ||
		!strings.Contains(list.Problem, "need Go") {
		t.Errorf("functions list: %+v %v", list, err)
	}
	var u lifecycle.Upgraded
	if err := control.Command(t.Context(), data, "/upgrade", &u); err == nil ||
		!strings.Contains(err.Error(), "the running one continues") || !strings.Contains(err.Error(), "need Go") {
		t.Errorf("an upgrade to a server without its functions: %v", err)
	}
}
