package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/memory"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/functions/edgeruntime"
	"daawo/supabase/internal/functions/host"
)

// openTypeScript serves the project's functions in TypeScript.
func (f *hosting) openTypeScript(meter host.Meter) (*deno.Service, error) {
	root := f.Config.Dir
	if root != "" {
		var err error
		if root, err = filepath.Abs(root); err != nil {
			return nil, err
		}
	}
	o := deno.Options{
		Root: root, Settings: f.Config.Functions, Cache: filepath.Join(f.Data, "deno"),
		Versions: filepath.Join(f.Data, "deno-versions"), Watch: f.Dev, Public: !f.Config.Loopback(),
		Private: []string{f.Data}, Project: f.Config.ProjectID, Region: f.Config.Region,
		Limits: deno.Limits{Processes: f.denoProcesses()},
		Deno:   findDeno(f.Installation, root), Getenv: f.Getenv, Taken: f.inGo, Hide: f.hideKeys,
		Vars: func() (map[string]string, error) { return f.typeScriptEnv(root) },
		Log:  slog.New(f.journal).With("part", "functions"),
	}
	find := o.Deno
	if f.Config.EdgeRuntime.Distribution == config.SupabaseRuntime {
		own := f.edgeRuntime(o)
		o.Runner, find = own, own.Find
	}
	s, err := deno.New(o, host.Options{
		Verify: verifier(f.keys), Region: f.Config.Region, Client: f.clientAddress, Log: o.Log, Meter: meter,
		Drain: installation.DrainTimeout, Now: f.Now, Traces: f.traces,
	})
	if err != nil {
		return nil, fmt.Errorf("functions in TypeScript: %w", err)
	}
	f.OnClose("functions in TypeScript", s.Close)
	f.keys.OnChange(func(keys.Set) { s.Restart() })
	if names := s.Names(); len(names) > 0 {
		f.confined()
		if _, err := find(context.Background()); err != nil {
			f.Log.Warn("functions in TypeScript are not run", "functions", names, "reason", err)
		}
	}
	return s, nil
}

// edgeRuntime returns Supabase's Edge Runtime for the functions of o.
func (f *hosting) edgeRuntime(o deno.Options) *edgeruntime.Runtime {
	return edgeruntime.New(edgeruntime.Options{
		Find: func() (string, bool, error) { return f.Added.FindLocked(edgeruntime.Part) },
		Dir:  filepath.Join(f.Data, "edge-runtime"), Vars: o.Vars, Getenv: o.Getenv, Project: o.Project,
		Region: o.Region, Public: o.Public, Limits: o.Limits, Log: o.Log,
	})
}

// denoProcesses returns how many functions in TypeScript may run at the same time.
func (f *hosting) denoProcesses() int {
	if n := f.Config.DenoProcesses; n > 0 {
		return int(n)
	}
	return int(min(max(memory.Available()/(512<<20), 4), 32))
}

// inGo returns an error if a function of this name exists in Go.
func (f *hosting) inGo(name string) error {
	_, built := f.Functions[name]
	if !built && f.FunctionsDir != "" {
		_, err := os.Stat(filepath.Join(f.FunctionsDir, "functions", name))
		built = err == nil
	}
	if built {
		return fmt.Errorf("function %q exists in Go and in TypeScript: remove functions/%s or supabase/functions/%s",
			name, name, name)
	}
	return nil
}

// findDeno returns a function that looks for Deno until it has found one.
func findDeno(in installation.Installation, root string) func(context.Context) (string, error) {
	finder := deno.Finder{Path: in.Config.DenoPath, Added: in.Added}
	if in.Getenv != nil {
		finder.Search, _ = in.Getenv("PATH")
	}
	if root != "" {
		finder.Home = filepath.Dir(root)
	}
	var mu sync.Mutex
	var found string
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if found != "" {
			return found, nil
		}
		program, err := finder.Find(ctx)
		if err == nil {
			found = program
		}
		return program, err
	}
}

// typeScriptEnv returns the variables of functions in TypeScript: those of upstream's runtime, the
// secrets of config.toml, and those of functions/.env.
func (f *hosting) typeScriptEnv(root string) (map[string]string, error) {
	env, err := host.ReadEnvFile(deno.EnvFile(root))
	if err != nil {
		return nil, err
	}
	if env == nil {
		env = map[string]string{}
	}
	stack, err := f.processEnv(f.Config.EdgeRuntime.Distribution != config.SupabaseRuntime)
	if err != nil {
		return nil, err
	}
	for name, value := range stack {
		env[name] = value
	}
	delete(env, "DESK_URL")
	for _, name := range []string{"SUPABASE_PUBLISHABLE_KEY", "SUPABASE_SECRET_KEY"} {
		key, ok := env[name]
		if !ok {
			continue
		}
		text, err := json.Marshal(map[string]string{"default": key})
		if err != nil {
			return nil, err
		}
		env[name+"S"] = string(text)
	}
	env["SUPABASE_JWKS"] = string(keys.JWKS(f.keys.Verifying()))
	return env, nil
}
