package pgrst

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest"
)

// product is the name and the version that clients of PostgREST see.
const product = "PostgREST " + rest.Version

// Options configure a server.
type Options struct {
	File    string // the configuration file; "" is none
	Environ []string
	Log     *slog.Logger
	// Stdout and Stderr get PostgREST's log of a running server instead of Log. nil is none.
	Stdout, Stderr io.Writer
	Ready          func(address string) // called when the port is open; may be nil
}

// server is a stand-alone engine.
type server struct {
	options  Options
	settings *settings    // of the start; a reload replaces only what the engine and the log use
	logLevel atomic.Value // string
	pool     *pool.Pool
	engine   *rest.Engine
	readFile func(string) ([]byte, error)
	fatal    chan error // errors that end the process
}

// applicationName returns the name of the connections: from the URI or PGAPPNAME, otherwise
// PostgREST's.
func applicationName(uri string) string {
	if c, err := pgx.ParseConfig(uri); err == nil && c.RuntimeParams["application_name"] != "" {
		return c.RuntimeParams["application_name"]
	}
	return product
}

// failed ends the process after an error of the database that a later attempt does not repair, or
// after any error without db-pool-automatic-recovery.
func (v *server) failed(err error) {
	password := pool.IsCode(err, "28P01")
	if !password && v.settings.AutomaticRecovery {
		return
	}
	text := "Automatic recovery disabled, exiting. "
	if password {
		text = "Failed to establish a connection. "
	}
	e := apierror.Errorf(http.StatusServiceUnavailable, "PGRST000", "Database connection error.")
	e.Details = err.Error()
	select {
	case v.fatal <- configError(text + string(rest.ErrorBody(e, false))):
	default: // another error ends it
	}
}

// sources returns the file and the environment.
func (v *server) sources() sources {
	return sources{File: v.options.File, Environ: v.options.Environ, ReadFile: v.readFile}
}

// open reads the settings, including those in the database, and creates the engine.
func open(ctx context.Context, o Options) (*server, error) {
	v := &server{options: o, readFile: streams(), fatal: make(chan error, 1)}
	s, err := loadSettings(v.sources())
	if err != nil {
		return nil, err
	}
	v.settings = s
	v.logLevel.Store(s.LogLevel)
	var report func(*http.Request, *rest.Report)
	if o.Stdout != nil && o.Stderr != nil {
		j := &journal{out: o.Stdout, diagnostics: o.Stderr, level: func() string { return v.logLevel.Load().(string) }}
		o.Log, report = slog.New(j), j.request
		o.Log.InfoContext(ctx, "Starting "+product+"...")
	}
	v.options = o
	v.pool, err = pool.Open(ctx,
		pool.Config{URL: s.DBURI, MaxConns: int32(s.Pool), AcquireTimeout: s.AcquisitionTimeout,
			MaxIdle: s.MaxIdle, MaxLifetime: s.MaxLifetime, Unprepared: !s.Prepared,
			ApplicationName: applicationName(s.DBURI)})
	if err != nil {
		return nil, err
	}
	if c, err := v.configure(ctx); err != nil {
		o.Log.ErrorContext(ctx, "rest: in-database configuration load failed; ignoring it", "error", err)
	} else {
		s.Rest = c
	}
	v.engine, err = rest.New(rest.Options{Pool: v.pool, Config: s.Rest, Configure: v.configure, Failed: v.failed,
		Report: report, Log: o.Log})
	if err != nil {
		v.pool.Close()
		return nil, err
	}
	return v, nil
}

// configure reloads the settings from file, environment and database.
func (v *server) configure(ctx context.Context) (rest.Config, error) {
	src := v.sources()
	src.DBURI = v.settings.DBURI
	s, err := loadSettings(src)
	if err != nil {
		return rest.Config{}, err
	}
	if s.InDatabase {
		if src.Database, err = inDatabase(ctx, v.pool, s); err != nil {
			return rest.Config{}, err
		}
		if s, err = loadSettings(src); err != nil {
			return rest.Config{}, err
		}
	}
	v.logLevel.Store(s.LogLevel)
	v.warnOfOldPath(ctx, s)
	return s.Rest, nil
}

// warnOfOldPath logs PostgREST's warning about the older form of jwt-role-claim-key.
func (v *server) warnOfOldPath(ctx context.Context, s *settings) {
	if path := s.Rest.RoleClaim; path.Old() {
		v.options.Log.WarnContext(ctx, "WARNING: The config `jwt-role-claim-key="+path.String()+
			"` is using the deprecated JSPath syntax.")
		v.options.Log.WarnContext(ctx, "Update `jwt-role-claim-key="+path.String()+
			"` to the new JSONPath syntax as support for JSPath "+
			"will be removed in a future release. See the migration guide on how to update: "+
			"https://github.com/PostgREST/postgrest/blob/main/CHANGELOG.md#migration-to-v16")
	}
}

// Run serves until ctx ends, then waits for running requests.
func Run(ctx context.Context, o Options) error {
	v, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer v.pool.Close()
	o = v.options
	s := v.settings
	a := &admin{engine: v.engine, pool: v.pool, socket: s.Socket}
	servers := make(chan error, 2)

	adminServer := &http.Server{Handler: a.handler(), ReadHeaderTimeout: 10 * time.Second}
	if s.AdminPort != 0 || s.AdminSocket != "" {
		l, err := listen(ctx, s.AdminSocket, s.AdminMode, s.AdminHost, s.AdminPort, false)
		if err != nil {
			return err
		}
		o.Log.InfoContext(ctx, "Admin server listening on "+l.Addr().String())
		go func() { servers <- adminServer.Serve(l) }()
		defer adminServer.Close()
	}

	v.signals(ctx)
	ending := make(chan os.Signal, 1)
	signal.Notify(ending, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(ending)
	if err := v.engine.Start(ctx); err != nil {
		o.Log.WarnContext(ctx, "rest: schema load failed; retrying", "error", err, "retry_in", time.Second,
			"schemas", v.engine.Config().Schemas, "search_path", v.engine.Config().ExtraSearchPath)
	}
	defer func() { _ = v.engine.Close(context.WithoutCancel(ctx)) }()
	select {
	case err := <-v.fatal:
		return err
	default:
	}

	l, err := listen(ctx, s.Socket, s.Mode, s.Host, s.Port, s.ReusePort)
	if err != nil {
		return err
	}
	main := &http.Server{Handler: v.named(), ReadHeaderTimeout: 30 * time.Second}
	go func() { servers <- main.Serve(l) }()
	a.open.Store(true)
	o.Log.InfoContext(ctx, "API server listening on "+l.Addr().String())
	if o.Ready != nil {
		o.Ready(l.Addr().String())
	}

	select {
	case err := <-servers:
		return err
	case err := <-v.fatal:
		return err
	case <-ctx.Done():
	}
	v.logSignal(ctx, ending)
	a.open.Store(false)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := main.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// logSignal logs the signal that ended ctx. The caller of Run ends ctx on the same signals.
func (v *server) logSignal(ctx context.Context, ending <-chan os.Signal) {
	names := map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT"}
	select {
	case s := <-ending:
		v.options.Log.InfoContext(ctx, "Received termination unix signal "+names[s])
	case <-time.After(20 * time.Millisecond): // the caller ended it for another reason
	}
}

// signals starts to reload the schema on SIGUSR1 and the configuration on SIGUSR2.
func (v *server) signals(ctx context.Context) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		defer signal.Stop(c)
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-c:
				switch s {
				case syscall.SIGUSR1:
					v.engine.Reload()
				case syscall.SIGUSR2:
					v.engine.ReloadConfig()
				}
			}
		}
	}()
}

// leastStatus returns the smallest status of a reply that a log level logs.
func leastStatus(level string) int {
	switch level {
	case "crit":
		return 1000
	case "error":
		return http.StatusInternalServerError
	case "warn":
		return http.StatusBadRequest
	default:
		return 0
	}
}

// named returns a handler that names the product in each reply, as PostgREST does.
func (v *server) named() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "postgrest/"+rest.Version)
		v.engine.ServeHTTP(w, r)
	})
}

// DumpConfig writes the effective settings to out. Without a database it warns and writes the
// settings of the file and the environment.
func DumpConfig(ctx context.Context, o Options, out io.Writer) error {
	src := sources{File: o.File, Environ: o.Environ, ReadFile: streams()}
	s, err := loadSettings(src)
	if err != nil {
		return err
	}
	if s.InDatabase {
		if src.Database, err = readDatabase(ctx, s); err != nil {
			o.Log.WarnContext(ctx, "rest: in-database configuration load failed; ignoring it", "error", err)
		} else if s, err = loadSettings(src); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, s.dump())
	return err
}

// readDatabase returns the settings in the database of s.
func readDatabase(ctx context.Context, s *settings) (map[string]string, error) {
	pool, err := pool.Open(ctx, pool.Config{URL: s.DBURI, MaxConns: 1, AcquireTimeout: s.AcquisitionTimeout})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	return inDatabase(ctx, pool, s)
}

// DumpSchema writes the schema as JSON to out.
func DumpSchema(ctx context.Context, o Options, out io.Writer) error {
	v, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer v.pool.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := v.engine.Start(ctx); err != nil {
		return err
	}
	defer func() { _ = v.engine.Close(context.WithoutCancel(ctx)) }()
	return json.NewEncoder(out).Encode(v.engine.Schema())
}

// Explain returns the statement that the engine would run for a request.
func Explain(ctx context.Context, o Options, r *http.Request) (string, error) {
	v, err := open(ctx, o)
	if err != nil {
		return "", err
	}
	defer v.pool.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := v.engine.Start(ctx); err != nil {
		return "", err
	}
	defer func() { _ = v.engine.Close(context.WithoutCancel(ctx)) }()
	return v.engine.Explain(r)
}
