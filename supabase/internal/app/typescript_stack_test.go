package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/server"
)

// denoOf returns the Deno that `npm ci` installs.
func denoOf(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(nodeModules(t), "@deno", runtime.GOOS+"-*", "deno")) // a valid pattern
	if len(found) == 0 {
		t.Fatal("node_modules has no Deno: run `npm ci`")
	}
	return found[0]
}

// typeScript is a running stack with the functions of testdata/typescript.
type typeScript struct {
	info Info
	root string // the folder supabase/
	data string
	log  *syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// typeScriptApp prepares a stack with a copy of testdata/typescript.
func typeScriptApp(t *testing.T, environment map[string]string) (*App, *typeScript) {
	t.Helper()
	parent := os.TempDir()
	if strings.HasPrefix(parent, "/dev/") {
		parent = "/tmp" // Deno lets no program with limited permissions read files below /dev
	}
	s := &typeScript{data: dataFolderIn(t, parent), log: &syncBuffer{}}
	s.root = filepath.Join(filepath.Dir(s.data), "supabase")
	mirror := newMirror(t)
	copyProject(t, filepath.Join("testdata", "typescript", "supabase"), s.root, mirror)
	variables := map[string]string{
		"DENO_PATH": denoOf(t), "NPM_CONFIG_REGISTRY": mirror + "/npm/", "JSR_URL": mirror + "/jsr/",
	}
	for name, value := range environment {
		variables[name] = value
	}
	secrets := filepath.Join(s.root, "functions", ".env") // a repository has no such file
	if err := os.WriteFile(secrets, []byte("FROM_FILE=file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.root, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Sources{
		File: text, Name: "config.toml", Dir: s.root, Getenv: env(variables),
		Overrides: []func(*config.Config){func(c *config.Config) {
			c.API.Port, c.DB.Port, c.Inbox.Port, c.Inbox.SMTPPort, c.Studio.Port = 0, 0, 0, 0, 0
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Config: c, Data: s.data, Project: os.DirFS(s.root), Getenv: env(variables), Dev: true, Foreign: true,
		Functions: map[string]edge.Func{"in-go": {NoVerifyJWT: true,
			Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
				return edge.WriteJSON(w, http.StatusOK, "Go")
			}}},
		Version: "test", Postgres: func() (fs.FS, error) { return server.FindPackage(".") },
		Log: slog.New(slog.NewTextHandler(s.log, nil)),
	}), s
}

// copyProject copies a project and fills in the address of the mirror.
func copyProject(t *testing.T, from, to, mirror string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, below)
		if e.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, bytes.ReplaceAll(text, []byte("MIRROR"), []byte(mirror)), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// invoke calls a function and returns status, body and headers.
func (s *typeScript) invoke(t *testing.T, method, path, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.info.Get("API_URL")+"/functions/v1/"+path,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.info.Get("ANON_KEY"))
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}

// signUp returns the access token of a new user.
func (s *typeScript) signUp(t *testing.T, mail string) (token, id string) {
	t.Helper()
	_, body := call(t, "POST", s.info.Get("API_URL")+"/auth/v1/signup",
		fmt.Sprintf(`{"email":%q,"password":"correct horse"}`, mail), "apikey", s.info.Get("ANON_KEY"), "Content-Type",
		"application/json")
	var session struct {
		AccessToken string `json:"access_token"`
		User        struct{ ID string }
	}
	if err := json.Unmarshal([]byte(body), &session); err != nil || session.AccessToken == "" {
		t.Fatalf("sign-up: %s", body)
	}
	return session.AccessToken, session.User.ID
}
