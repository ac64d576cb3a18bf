package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/engine/auth/gotrue"
	realtime "daawo/supabase/internal/engine/realtime/standalone"
	"daawo/supabase/internal/engine/rest/pgrst"
	storage "daawo/supabase/internal/engine/storage/standalone"
)

// documented returns the variables that docs/services.md gives a service, with these values.
func documented(t *testing.T, service string, values map[string]string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/services.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)\n#### " + service + "[^\n]*\n\n```env\n(.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatalf("docs/services.md has no variables of %s", service)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(found[1])) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = os.Expand(value, func(name string) string {
			if values[name] == "" {
				t.Errorf("%s: %s has no value", service, name)
			}
			return values[name]
		})
		out[name] = cmp.Or(values[value], value) // another port
	}
	return out
}

// serveInPlace runs a service until the end of the test, and waits for its port.
func serveInPlace(t *testing.T, port string, run func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	waitForService(t, "the service at "+port, func() bool {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// waitForService waits up to a minute until ok returns true: several services start at once.
func waitForService(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen within a minute", what)
		}
	}
}

// runReal returns a function that runs a program with these variables alone.
func runReal(folder string, variables map[string]string, program ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, program[0], program[1:]...)
		cmd.Dir, cmd.Stderr, cmd.Env = folder, os.Stderr, []string{"PATH=" + os.Getenv("PATH")}
		for name, value := range variables {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		_ = cmd.Run() // killed at the end, so it reports that
		return nil
	}
}

// place starts the services of docs/services.md with its variables: the real ones that GOTRUE and
// STORAGE name while replies are recorded, else ours.
func place(t *testing.T, values map[string]string) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	pairs := func(variables map[string]string) (out []string) {
		for name, value := range variables {
			out = append(out, name+"="+value)
		}
		return out
	}
	auth := documented(t, "GoTrue", values)
	runAuth := func(ctx context.Context) error { return gotrue.Run(ctx, env(auth), pairs(auth), quiet) }
	files := documented(t, "storage-api", values)
	runStorage := func(ctx context.Context) error {
		c, err := storage.FromEnv(env(files))
		if err != nil {
			return err
		}
		return storage.Run(ctx, c, quiet, func(net.Addr) {})
	}
	if *record {
		runAuth = runReal(t.TempDir(), auth, os.Getenv("GOTRUE"), "serve")
		runStorage = runReal(os.Getenv("STORAGE"), files, "node", "dist/start/server.js")
	}
	serveInPlace(t, auth["GOTRUE_API_PORT"], runAuth)
	serveInPlace(t, files["SERVER_PORT"], runStorage)
	rest := documented(t, "PostgREST", values)
	serveInPlace(t, rest["PGRST_SERVER_PORT"], func(ctx context.Context) error {
		return pgrst.Run(ctx, pgrst.Options{Environ: pairs(rest), Log: quiet})
	})
	channels := documented(t, "Realtime", values)
	serveInPlace(t, channels["PORT"], func(ctx context.Context) error {
		c, err := realtime.FromEnv(env(channels))
		if err != nil {
			return err
		}
		return realtime.Run(ctx, c, quiet, func(net.Addr) {})
	})
	called := documented(t, "Functions", values)
	serveInPlace(t, called["PORT"], func(ctx context.Context) error {
		return newApp(t, dataFolder(t), called).RunFunctions(ctx, func(Info) {})
	})
}

// servicePorts are the ports that docs/services.md names.
var servicePorts = []string{"9999", "5000", "3000", "4000", "9000"}

// quietPort returns a free port that the system gives no program that asks for any port, so that it
// is still free after the stack has started.
func quietPort() string {
	for {
		port := fmt.Sprint(10_000 + rand.IntN(20_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
}

// TestServicesElsewhere starts a stack whose services all run elsewhere, with the variables of
// docs/services.md, and compares the replies through the gateway with those that the real GoTrue
// and storage-api gave there.
func TestServicesElsewhere(t *testing.T) {
	ports := map[string]string{}
	for _, port := range servicePorts {
		ports[port] = quietPort()
	}
	at := func(port string) string { return "http://127.0.0.1:" + ports[port] }
	a := newApp(t, dataFolder(t), map[string]string{"AUTH_URL": at("9999"), "STORAGE_URL": at("5000"),
		"REST_URL": at("3000"), "REALTIME_URL": at("4000"), "FUNCTIONS_URL": at("9000")})
	a.Config.Realtime.Enabled = true
	info := start(t, a)
	place(t, servicesValues(t, info, ports))
	compareRecorded(t, info)

	api, anon := info.Get("API_URL"), info.Get("PUBLISHABLE_KEY")
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/rest/v1/notes?select=text&order=id", "", `[{"text":"first"},{"text":"second"}]`},
		{"POST", "/functions/v1/add-note", `{"text":"third"}`, ""},
		{"GET", "/rest/v1/notes?select=text&id=gt.2", "", `[{"text":"third"}]`},
		{"POST", "/realtime/v1/api/broadcast", `{"messages":[{"topic":"t","event":"e","payload":{}}]}`, ""},
	} {
		status, body := call(t, tt.method, api+tt.path, tt.body, "apikey", anon, "Content-Type", "application/json")
		if status/100 != 2 || !strings.Contains(strings.Join(strings.Fields(body), ""), tt.want) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, status, body)
		}
	}
	waitForService(t, "the bucket of config.toml", func() bool {
		status, _ := call(t, "GET", api+"/storage/v1/bucket/avatars", "", "apikey", info.Get("SECRET_KEY"))
		return status == 200
	})
}

// servicesValues returns what docs/services.md reads from the stack, with other ports in place of
// its own.
func servicesValues(t *testing.T, info Info, ports map[string]string) map[string]string {
	t.Helper()
	values := map[string]string{"FILES": t.TempDir()}
	for _, name := range []string{"API_URL", "JWT_SECRET", "ANON_KEY", "SERVICE_ROLE_KEY", "PUBLISHABLE_KEY", "SECRET_KEY",
		"S3_PROTOCOL_ACCESS_KEY_ID", "S3_PROTOCOL_ACCESS_KEY_SECRET"} {
		values[name] = info.Get(name)
	}
	values["DB_PORT"] = regexp.MustCompile(`:(\d+)/`).FindStringSubmatch(info.Get("DB_URL"))[1]
	maps.Copy(values, ports)
	return values
}
