package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/observe"
	"daawo/supabase/internal/base/photo"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/functions/deploy"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jail"
	"daawo/supabase/internal/functions/jobs"
)

// hosting hosts the edge functions of an installation.
type hosting struct {
	installation.Installation
	front.Addresses
	db      *database.Database
	keys    *keyring.Keyring
	outbox  *jobs.Outbox
	journal *host.Journal
	traces  *tracing.Provider
	// what functions can run with Env.Operate
	operations map[string]func(context.Context) (any, error)
	parent     *host.ParentServer // for functions in processes of their own
	role       sync.Mutex
	roleURL    string        // of the database, for those; "" until the role is made
	jail       sync.Once     // for confined
	wait       bool          // functions that are built must serve before open returns
	ready      observe.Check // whether functions that are built serve; nil if none are
}

// open hosts the functions and starts the background jobs. known answers the operator's commands.
func (f *hosting) open(ctx context.Context, db *pool.Pool, metrics *observe.Metrics) (
	served http.Handler, known control.Functions, err error) {
	getenv, err := f.environment()
	if err != nil {
		return nil, known, err
	}
	meter := newFunctionMeter(metrics)
	h, err := host.New(host.Options{
		Functions: f.Functions, DB: db, Outbox: f.outbox,
		Verify: verifier(f.keys),
		Getenv: getenv, CleanImage: photo.Strip, Operations: f.operations, Operators: f.Operators,
		Region: f.Config.Region,
		Client: f.clientAddress,
		Log:    slog.New(f.journal).With("part", "functions"), Meter: meter, Drain: installation.DrainTimeout,
		Now: f.Now, Traces: f.traces,
	})
	if err != nil {
		return nil, known, err
	}
	f.OnClose("functions", h.Close)
	f.parent = host.NewParentServer(h)
	f.OnClose("socket for functions processes", f.parent.Close)
	f.outbox.Chores(jobs.Chore{Name: "sweep_functions", Cron: "7 * * * *", Do: h.Sweep})
	var background jobs.Functions = h
	served = h
	dev, err := f.openProgram(ctx, h)
	if err != nil {
		return nil, known, err
	}
	if dev != nil {
		served, background = dev, dev
	}
	known = control.Functions{Host: h, Dev: dev, Watching: f.Dev}
	if known.TypeScript, err = f.openTypeScript(meter); err != nil {
		return nil, known, err
	}
	if !f.Dev {
		if known.Deployer, err = f.openDeployer(ctx, h, dev, known.TypeScript); err != nil {
			return nil, known, err
		}
		served, background = known.Deployer, known.Deployer
	}
	if dev != nil {
		f.ready = func(context.Context) error {
			if known.Deployer != nil && !known.Deployer.Deployed().IsZero() {
				return nil
			}
			return dev.Ready()
		}
	}
	served = known.TypeScript.Next(served)
	if err := f.outbox.Start(ctx, background); err != nil {
		return nil, known, err
	}
	f.OnClose("outbox", f.outbox.Close)
	return served, known, nil
}

// openProgram serves functions from their source: a project's that are not part of this
// program, or in development the working folder's. It returns nil if host serves the
// functions.
func (f *hosting) openProgram(ctx context.Context, h *host.Host) (dev *child.Dev, err error) {
	root := f.FunctionsDir
	if root == "" && f.Dev && !f.Foreign {
		root = "."
	}
	if root == "" {
		return nil, nil
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "functions", "functions.go")); err != nil {
		f.Log.Warn("functions are not reloaded: the working folder has no functions/functions.go", "folder", root)
		return nil, nil
	}
	o := child.DevOptions{
		Root: root, Host: h, Public: !f.Config.Loopback(), Log: slog.New(f.journal).With("part", "functions"),
		Child: func() (host.ChildConfig, error) { return f.childConfig(envFile(root)) }, Changed: f.outbox.Reschedule,
	}
	if f.FunctionsDir != "" {
		dev, err = child.NewProgram(ctx, child.ProgramOptions{
			DevOptions: o, Keep: filepath.Join(f.Data, "functions-program"), Watch: f.Dev, Wait: f.wait})
	} else {
		dev, err = child.NewDev(o)
	}
	if err != nil {
		return nil, err
	}
	f.keys.OnChange(func(keys.Set) { dev.Reconfigure() })
	f.OnClose("functions process", dev.Close)
	return dev, nil
}

// childConfig returns the present configuration of a process of functions.
func (f *hosting) childConfig(envFile string) (host.ChildConfig, error) {
	var public []keys.Key // the parent checks tokens that are signed with a secret
	for _, key := range f.keys.Trusted() {
		if _, shared := key.Shared(); !shared {
			public = append(public, key.CheckOnly())
		}
	}
	verifying, err := json.Marshal(public)
	if err != nil {
		return host.ChildConfig{}, err
	}
	url, err := f.functionsURL()
	if err != nil {
		return host.ChildConfig{}, err
	}
	env, err := f.processEnv(true)
	if err != nil {
		return host.ChildConfig{}, err
	}
	parent, err := f.parent.Address()
	return host.ChildConfig{
		Parent: parent, Database: url, Keys: verifying, Env: env, EnvFile: envFile, Hide: f.hideKeys,
		Declared: f.Config.FunctionValues,
		Region:   f.Config.Region, Webhook: f.Config.WebhookURL != "", Spans: f.traces != nil,
		Limited: !f.Config.Loopback() ||
			len(f.Config.Proxies) > 0,
	}, err
}

// functionsURL returns the URL of the database for functions in processes of their own.
func (f *hosting) functionsURL() (string, error) {
	f.role.Lock()
	defer f.role.Unlock()
	if f.roleURL != "" {
		return f.roleURL, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	address, err := database.FunctionsURL(ctx, f.db)
	if err != nil {
		return "", err
	}
	f.roleURL = address
	f.confined()
	return address, nil
}

// confined logs once what the jail of functions lacks on this system.
func (f *hosting) confined() {
	f.jail.Do(func() {
		if lacks := jail.Check().Lacks(); len(lacks) > 0 {
			f.Log.Warn("functions are not confined by all means", "lacks", lacks)
		}
	})
}

// openDeployer serves the deployed functions. While none are deployed, it serves dev's or,
// if that is nil, of h.
func (f *hosting) openDeployer(ctx context.Context, h *host.Host, dev *child.Dev,
	typeScript *deno.Service) (*deploy.Deployer, error) {
	base, built := deploy.Base(h), func() []host.FunctionInfo { return h.Describe().Functions }
	if dev != nil {
		base = dev
		built = func() []host.FunctionInfo {
			functions, _ := dev.Functions()
			return functions
		}
	}
	d, err := deploy.New(ctx, deploy.Options{
		Dir: deployedDir(f.Data), Host: h, Base: base, Built: built,
		Child:   func() (host.ChildConfig, error) { return f.childConfig("") },
		Waiting: f.outbox.WaitingFunctionJobs, Changed: f.outbox.Reschedule, Memory: int64(f.Config.FunctionsMemory),
		Log: slog.New(f.journal).With("part", "functions"), Meter: h.Meter, TypeScript: typeScript,
	})
	if err != nil {
		return nil, err
	}
	f.keys.OnChange(func(keys.Set) { d.Reconfigure() })
	f.OnClose("deployed functions", d.Close)
	return d, nil
}

// deployedDir returns the folder of the deployed functions.
func deployedDir(data string) string { return filepath.Join(data, "functions") }

// envFile returns the path of the file of development secrets.
func envFile(root string) string { return filepath.Join(root, "functions", ".env") }

// clientAddress returns the address that the rate limits of functions count, as the gateway
// determined it. It returns "" for programs of this machine, such as tests and scripts: they have
// no limits, as at the gateway.
func (f *hosting) clientAddress(r *http.Request) string {
	if f.Config.Loopback() && len(f.Config.Proxies) == 0 {
		return ""
	}
	return r.Header.Get("X-Forwarded-For")
}

// environment returns the environment of functions: the variables of the stack, those of
// functions/.env in development, and those of the process.
func (f *hosting) environment() (func(string) string, error) {
	var file map[string]string
	if f.Dev {
		var err error
		if file, err = host.ReadEnvFile(envFile(".")); err != nil {
			return nil, err
		}
	}
	return func(name string) string {
		return host.Lookup(f.stackEnv(), file, f.Getenv)(name) // at each call, because keys can be rotated
	}, nil
}

// stackEnv returns the variables that the stack gives functions: addresses and keys under
// Supabase's names, and the secrets of config.toml.
func (f *hosting) stackEnv() map[string]string {
	set := f.keys.Current()
	env := map[string]string{
		"SUPABASE_URL":              f.Inside,
		"SUPABASE_ANON_KEY":         set.Anon,
		"SUPABASE_SERVICE_ROLE_KEY": set.ServiceRole,
		"SUPABASE_PUBLISHABLE_KEY":  set.Publishable,
		"SUPABASE_SECRET_KEY":       set.Secret,
		"SUPABASE_DB_URL":           f.db.URL("postgres"),
		"SITE_URL":                  f.Public,
		"DESK_URL":                  f.Admin,
	}
	for name, secret := range f.Config.EdgeRuntime.Secrets {
		env[name] = secret
	}
	return env
}
