package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/studio"
	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/database/server"
)

// added runs the Studio that is added to the project.
type added struct {
	*services
	give func(dir string) error // makes the user of Studio the owner of a folder

	mu      sync.Mutex
	written functionList // what Studio's folder of functions shows
}

// openStudio prepares the handler of Studio's port: the Studio at STUDIO_UPSTREAM_URL, or the one
// that is added to the project.
func openStudio(s *services) error {
	if s.Config.StudioUpstreamURL != "" {
		return upstream(s.Installation, s.Config.StudioUpstreamURL, &s.studio)
	}
	if s.Studio == "" {
		return nil
	}
	credential, err := server.Credential(datadir.Postgres(s.Data))
	if err != nil {
		return err
	}
	own := &added{services: s, give: func(dir string) error { return server.ChownTree(datadir.Postgres(s.Data), dir) }}
	run := studio.New(studio.Options{
		Find: s.findStudio, Variables: own.variables, Functions: own.showFunctions, Docker: own.inDocker,
		Dir:     own.dir(),
		Command: s.Config.Command, Memory: int64(s.Config.StudioMemory), Credential: credential,
		Log: s.Log.With("part", "studio"), Give: own.give,
	})
	s.OnClose("Studio", run.Close)
	s.studio = run
	return nil
}

// findStudio returns the folder of the added Studio.
func (s *services) findStudio() (folder string, ok bool, err error) {
	return s.Added.FindLocked(studio.Part)
}

// dir returns the folder of Studio's own files.
func (s *added) dir() string { return filepath.Join(s.Data, "studio") }

// variables returns the environment of the added Studio.
func (s *added) variables(ctx context.Context, f studio.Folders) ([]string, error) {
	if err := s.db.AdmitReadOnly(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.written = functionList{} // the program may have changed its folder
	s.mu.Unlock()
	if err := s.showFunctions(f); err != nil {
		return nil, err
	}
	variables, err := s.environment(func(address string) string { return address })
	return append(variables, "SNIPPETS_MANAGEMENT_FOLDER="+f.Snippets,
		"EDGE_FUNCTIONS_MANAGEMENT_FOLDER="+f.Functions), err
}

// environment returns the variables with which Studio finds this stack. from turns an address
// of this machine into the one that Studio uses.
func (s *added) environment(from func(string) string) ([]string, error) {
	db, err := url.Parse(s.db.Public())
	if err != nil {
		return nil, err
	}
	password, _ := db.User.Password()
	port := db.Port()
	if port == "" {
		port = "5432"
	}
	set, inside := s.keys.Current(), from(s.Inside)
	c := s.Config
	return []string{
		"SUPABASE_URL=" + inside, "SUPABASE_PUBLIC_URL=" + s.Public, "STUDIO_PG_META_URL=" + inside + "/pg",
		"POSTGRES_HOST=" + from(db.Hostname()), "POSTGRES_PORT=" + port,
		"POSTGRES_DB=" + strings.TrimPrefix(db.Path, "/"), "POSTGRES_PASSWORD=" + password,
		"POSTGRES_USER_READ_WRITE=" + db.User.Username(), "POSTGRES_USER_READ_ONLY=" + database.ReadOnlyUser,
		"PG_META_CRYPTO_KEY=" + s.Config.MetaCryptoKey,
		"SUPABASE_ANON_KEY=" + set.Anon, "SUPABASE_SERVICE_KEY=" + set.ServiceRole,
		"SUPABASE_PUBLISHABLE_KEY=" + set.Publishable, "SUPABASE_SECRET_KEY=" + set.Secret,
		"AUTH_JWT_SECRET=" + set.JWTSecret,
		"PGRST_DB_SCHEMAS=" + strings.Join(c.API.Schemas, ","),
		"PGRST_DB_EXTRA_SEARCH_PATH=" + strings.Join(c.API.ExtraSearchPath, ","),
		fmt.Sprintf("PGRST_DB_MAX_ROWS=%d", c.API.MaxRows),
		"DEFAULT_ORGANIZATION_NAME=" + c.ProjectID, "DEFAULT_PROJECT_NAME=" + c.ProjectID,
		"LOGFLARE_URL=" + inside + "/analytics/v1",
		"LOGFLARE_PRIVATE_ACCESS_TOKEN=" + derivedKey(set.JWTSecret, "LOGFLARE"),
		"NEXT_PUBLIC_ENABLE_LOGS=true", "ENABLED_FEATURES_LOGS_ALL=true",
	}, nil
}

// shareMetaKey gives the added Studio and the engine of /pg a key without PG_META_CRYPTO_KEY.
func shareMetaKey(s *services) {
	if s.Studio != "" && s.Config.MetaCryptoKey == "" {
		s.Config.MetaCryptoKey = derivedKey(s.keys.Current().JWTSecret, "PG_META_CRYPTO_KEY")
	}
}

// derivedKey returns a key for a purpose that needs no file of its own.
func derivedKey(secret, purpose string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(purpose)) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// showFunctions writes the folder that shows Studio the functions, unless it shows them already.
func (s *added) showFunctions(f studio.Folders) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.listedFunctions()
	if slices.Equal(list.functions, s.written.functions) && list.deployed.Equal(s.written.deployed) {
		return nil
	}
	if err := s.writeFunctions(f.Functions, list); err != nil {
		return err
	}
	s.written = list
	return s.give(f.Functions)
}

// writeFunctions writes one folder per function, whose file has the time of the last deployment. It
// follows no link out of Studio's folder: the program may own it, and this process may be root.
func (s *added) writeFunctions(dir string, list functionList) error {
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	base := filepath.Base(dir)
	if err := root.RemoveAll(base); err != nil {
		return err
	}
	if err := root.Mkdir(base, 0o700); err != nil {
		return err
	}
	for _, f := range list.functions {
		name := filepath.Join(base, f.name, "index."+f.language)
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		text := fmt.Sprintf("// %s\n// %s/functions/v1/%s\n", f.source, s.Public, f.name)
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
		if err := root.Chtimes(name, list.deployed, list.deployed); err != nil {
			return err
		}
	}
	return nil
}

// functionList is the functions of the server, and when they were deployed.
type functionList struct {
	functions []listedFunction
	deployed  time.Time
}

// listedFunction is a function as Studio and the front page show it.
type listedFunction struct {
	name, language string // language is the ending of its file: go or ts
	source         string // a sentence about its source
}

// listedFunctions returns the functions of the server.
func (s *services) listedFunctions() functionList {
	list := functionList{deployed: s.began}
	info, err := s.control.Info()
	if err == nil {
		for _, f := range info.Functions {
			if f.Handler {
				list.functions = append(list.functions,
					listedFunction{f.Name, "go", "A function in Go: functions/" + f.Name})
			}
		}
		if d := s.control.Deployer; d != nil && info.Source == "deployed" {
			list.deployed = d.Deployed()
		}
	}
	for _, name := range denoFunctions(s.Project, s.Functions) {
		list.functions = append(list.functions,
			listedFunction{name, "ts", "A function in TypeScript: supabase/functions/" + name})
	}
	return list
}

// inDocker writes the variables of Studio to a file and returns the line that runs it in a
// container. On Linux the container uses the network of this machine, because the ports of a local
// stack are on loopback.
func (s *added) inDocker(context.Context) (string, error) {
	if !s.Config.Loopback() {
		return "", nil
	}
	network, from := "--network host", func(address string) string { return address }
	extra := []string{"HOSTNAME=127.0.0.1", "PORT=3000"}
	if runtime.GOOS != "linux" {
		network, extra = "-p 127.0.0.1:3000:3000", []string{"HOSTNAME=0.0.0.0"}
		from = func(address string) string { return strings.ReplaceAll(address, "127.0.0.1", "host.docker.internal") }
	}
	variables, err := s.environment(from)
	if err != nil {
		return "", err
	}
	name := filepath.Join(s.dir(), "docker.env")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", err
	}
	text := strings.Join(append(variables, extra...), "\n") + "\n"
	if err := atomicfile.WriteFile(name, []byte(text), 0o600); err != nil {
		return "", err
	}
	return fmt.Sprintf("docker run --rm %s --env-file %s supabase/studio:%s", network, name, studio.Part.Version), nil
}
