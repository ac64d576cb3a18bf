package server

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// official is the name of Supabase's archive in data folders.
const official = "supabase"

// OpenOfficial returns the Postgres of the unpacked archive that Supabase publishes.
func OpenOfficial(dir string) (*Home, error) {
	h, err := openHome(dir)
	if err != nil {
		return nil, fmt.Errorf("archive of Postgres: %w", err)
	}
	h.distribution = official
	return h, nil
}

// Program returns the path of a program of the home, such as pg_dump.
func (h *Home) Program(name string) string { return filepath.Join(h.dir, "bin", name) }

// afterCreate lists the extensions of the archive whose objects belong to a superuser, with what
// role postgres may do with them, as in supabase/postgres.
var afterCreate = map[string]string{
	"pg_cron": `
grant usage on schema cron to postgres with grant option;
grant all on all functions in schema cron to postgres with grant option;
grant all on all sequences in schema cron to postgres with grant option;
grant all on all tables in schema cron to postgres with grant option;
revoke all on cron.job from postgres;
grant select on cron.job to postgres with grant option;`,
	"pg_net": `
grant usage on schema net to supabase_functions_admin, postgres, anon, authenticated, service_role;
grant all on all tables in schema net to postgres;
grant execute on all functions in schema net to supabase_functions_admin, postgres, anon, authenticated, service_role;`,
	"supabase_vault": `
grant usage on schema vault to postgres with grant option;
grant select, delete, truncate, references on all tables in schema vault to postgres with grant option;
grant execute on all functions in schema vault to postgres with grant option;
grant usage on schema vault to service_role;
grant select, delete on all tables in schema vault to service_role;`,
	"pgmq": `
grant usage on schema pgmq to postgres with grant option;
grant all on all tables in schema pgmq to postgres with grant option;
grant execute on all functions in schema pgmq to postgres with grant option;`,
	"pg_graphql": "", "pgsodium": "", "wrappers": "", "pg_tle": "", "pg_partman": "", "pgjwt": "", "index_advisor": "",
	"pg_repack": "",
}

// defaultVersion matches the version in a control file.
var defaultVersion = regexp.MustCompile(`(?m)^\s*default_version\s*=\s*'([^']+)'`)

// appendToScripts adds a text to the scripts that end the installation of an extension in its
// default version.
func appendToScripts(control, name, text string) error {
	content, err := os.ReadFile(filepath.Join(control, name+".control"))
	m := defaultVersion.FindSubmatch(content)
	if err != nil || m == nil || text == "" {
		return err
	}
	scripts, err := filepath.Glob(filepath.Join(control, name+"--*"+string(m[1])+".sql"))
	for _, file := range scripts {
		if base := filepath.Base(file); strings.HasSuffix(base, "--"+string(m[1])+".sql") {
			err = errors.Join(err, appendToLink(file, text+"\n"))
		}
	}
	return err
}

// preloaded are the libraries that the server of supabase/postgres loads at its start.
var preloaded = []string{
	"pg_stat_statements", "pg_stat_monitor", "pgaudit", "plpgsql", "plpgsql_check", "pg_cron", "pg_net", "pgsodium",
	"auto_explain", "pg_tle", "plan_filter", "supabase_vault",
}

// preload returns the libraries of the home that the server loads at its start.
func (h *Home) preload() []string {
	wanted := []string{"pg_stat_statements", "pgaudit"}
	if h.distribution == official {
		wanted = preloaded
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return !h.hasLibrary(name) })
}

// hasLibrary reports whether the home has a library of an extension.
func (h *Home) hasLibrary(name string) bool {
	_, err := os.Stat(filepath.Join(h.lib, name+libraryEnding()))
	return err == nil
}

// libraryEnding returns the ending of Postgres' libraries on this system.
func libraryEnding() string {
	if runtime.GOOS == "darwin" {
		return ".dylib"
	}
	return ".so"
}

// keyScript is the program in the data folder that prints the root key of pgsodium and
// supabase_vault.
const keyScript = "daawo_getkey.sh"

// settings returns the settings of the server for the home's libraries.
func (h *Home) settings(data string) map[string]string {
	m := map[string]string{"shared_preload_libraries": strings.Join(h.preload(), ",")}
	if h.distribution != official {
		return m
	}
	script := filepath.Join(data, keyScript)
	maps.Copy(m, map[string]string{
		"max_worker_processes":        "16", // jobs of pg_cron run in them
		"cron.database_name":          "postgres",
		"cron.use_background_workers": "on",
		"pg_net.username":             Superuser,
		"pgsodium.getkey_script":      script,
		"vault.getkey_script":         script,
	})
	if h.hasLibrary("supautils") {
		maps.Copy(m, map[string]string{
			"session_preload_libraries":       "supautils",
			"supautils.privileged_role":       "postgres",
			"supautils.privileged_extensions": strings.Join(h.extensions(), ", "),
			"supautils.privileged_role_allowed_configs": "auto_explain.*, log_lock_waits, log_min_duration_statement, " +
				"log_min_messages, log_statement, pg_net.batch_size, pg_net.ttl, pg_stat_statements.*, pgaudit.log, " +
				"plan_filter.*, session_replication_role, track_io_timing, wal_compression",
			"supautils.reserved_roles": "supabase_admin, supabase_auth_admin, supabase_storage_admin, " +
				"supabase_realtime_admin, supabase_functions_admin, authenticator*, dashboard_user, pgbouncer",
		})
	}
	return m
}

// extensions returns the names of all extensions of the home.
func (h *Home) extensions() (names []string) {
	files, err := filepath.Glob(filepath.Join(h.data, "extension", "*.control"))
	if err != nil {
		panic(err) // the pattern is valid
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".control"))
	}
	return names
}

// writeKeyScript writes keyScript into the data folder. It prints the first half of our own key:
// the extensions need 32 bytes.
func (s *Server) writeKeyScript() error {
	name := filepath.Join(s.opt.Data, keyScript)
	text := fmt.Sprintf("#!/bin/sh\nexec head -c 64 '%s'\n", strings.ReplaceAll(VaultKeyFile(s.opt.Data), "'", `'\''`))
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		return err
	}
	return errors.Join(os.Chmod(name, 0o700), s.owner.chown(name))
}

// distributionFile is the file in a data folder that names the distribution that made it. Folders
// of the embedded Postgres and of POSTGRES_HOME have none.
const distributionFile = "daawo_distribution"

// Distribution returns the name of the distribution that made the data folder, "" for the embedded
// Postgres and POSTGRES_HOME.
func Distribution(data string) (string, error) {
	text, err := os.ReadFile(filepath.Join(data, distributionFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(string(text)), err
}

// distribution returns the name of the source's distribution.
func (o Options) distribution() string {
	if h, ok := o.Source.(*Home); ok {
		return h.distribution
	}
	return ""
}

// checkDistribution returns an error if another distribution made the data folder: its libraries
// and the order of its indexes of text differ.
func checkDistribution(o Options) error {
	made, err := Distribution(o.Data)
	if err != nil || made == o.distribution() {
		return err
	}
	name := func(distribution string) string {
		if distribution == "" {
			return "embedded"
		}
		return distribution
	}
	return userErrorf(ErrOtherVersion, "the Postgres of %s is the distribution %q, and config.toml says %q in "+
		"db.distribution: change it back, or move the data with `daawo postgres switch`", o.Data, name(made),
		name(o.distribution()))
}

// writeDistribution records the distribution in a new data folder.
func writeDistribution(o Options, dir string, w owner) error {
	name := o.distribution()
	if name == "" {
		return nil
	}
	file := filepath.Join(dir, distributionFile)
	return errors.Join(os.WriteFile(file, []byte(name+"\n"), 0o600), w.chown(file))
}
