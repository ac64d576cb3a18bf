package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/atomicfile"

	"github.com/jackc/pgx/v5/pgconn"
)

// settings returns the configuration. It suits a machine with 1 GB of memory
// that also runs the other services, keeps user data out of the log, and
// listens on loopback only.
func (s *Server) settings() map[string]string {
	m := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"port":                    strconv.Itoa(s.port),
		"unix_socket_directories": s.socketDir,
		"unix_socket_permissions": "0700",
		"max_connections":         "150", // during an upgrade two processes have pools
		"ssl":                     "off", // the bundled OpenSSL is past its end of life
		"password_encryption":     "scram-sha-256",

		"shared_buffers":                   "64MB",
		"effective_cache_size":             "256MB",
		"maintenance_work_mem":             "32MB",
		"huge_pages":                       "off",
		"jit":                              "off",
		"max_worker_processes":             "4",
		"max_parallel_workers":             "0",
		"max_parallel_workers_per_gather":  "0",
		"max_parallel_maintenance_workers": "0",
		"autovacuum_max_workers":           "2",

		// Postgres writes to these tables at its start, so they are used memory, 3 MB less than by
		// default. A transaction locks a whole relation instead of 32 of its pages, as by default.
		"pg_stat_statements.max":         "2000",
		"max_pred_locks_per_transaction": "16",
		"max_pred_locks_per_relation":    "32",

		"wal_level":                       "logical", // Realtime decodes it
		"max_wal_senders":                 "10",
		"max_replication_slots":           "10",
		"max_slot_wal_keep_size":          "1GB", // a slot that lags more than this is dropped
		"max_logical_replication_workers": "0",   // no subscriptions; saves the launcher process
		"min_wal_size":                    "16MB",
		"max_wal_size":                    "256MB",

		"shared_preload_libraries": strings.Join(s.preload(), ","),

		"timezone":    "UTC",
		"lc_messages": "C", // explain reads messages

		// Failed statements and details such as "Failing row contains" hold
		// user data, so they are not logged. The client still receives them.
		"log_destination":         "stderr",
		"logging_collector":       "off",
		"log_timezone":            "UTC",
		"log_line_prefix":         "",
		"log_min_messages":        "log",
		"log_min_error_statement": "panic",
		"log_error_verbosity":     "terse",
		"log_statement":           "none",
		"log_checkpoints":         "off",
		"log_connections":         "off",
	}
	if home, ok := s.opt.Source.(*Home); ok {
		maps.Copy(m, home.settings(s.opt.Data))
	}
	if s.opt.Archive != "" {
		m["archive_mode"] = "on"
		m["archive_library"] = "basic_archive"
		m["basic_archive.archive_directory"] = s.opt.Archive
		m["archive_timeout"] = strconv.Itoa(max(1, int(s.opt.ArchiveWithin.Seconds())))
	}
	if runtime.GOOS == "linux" {
		// After a crash: one call instead of one per file.
		m["recovery_init_sync_method"] = "syncfs"
	}
	maps.Copy(m, s.opt.Settings)
	m["hba_file"] = filepath.Join(s.opt.Data, hbaFile)
	m["ident_file"] = filepath.Join(s.opt.Data, identFile)
	return m
}

// preload returns the libraries that the server loads at its start.
func (s *Server) preload() []string {
	names := []string{"pg_stat_statements"}
	if s.hasEventTriggers() {
		names = append(names, EventTriggers)
	}
	return names
}

// Configuration files in the data folder, rewritten at each start.
// postgresql.auto.conf (ALTER SYSTEM) still applies after them.
const (
	configFile = "daawo.conf"
	spaceFile  = "daawo_space.conf" // included; sets default_transaction_read_only
	hbaFile    = "daawo_hba.conf"
	identFile  = "daawo_ident.conf"
)

func (s *Server) writeConfig() error {
	if s.opt.Archive != "" {
		if err := errors.Join(atomicfile.MkdirAll(s.opt.Archive, 0o700), s.owner.chown(s.opt.Archive)); err != nil {
			return explain("make the archive folder", s.opt, err)
		}
	}
	var conf strings.Builder
	conf.WriteString("# Written at each start. Change settings with ALTER SYSTEM or the program's configuration.\n")
	m := s.settings()
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&conf, "%s = '%s'\n", name, strings.ReplaceAll(m[name], "'", "''"))
	}
	fmt.Fprintf(&conf, "include = '%s'\n", spaceFile)
	// Peer authentication on the socket: the user Postgres runs as and the
	// user we run as may connect as any role, other users as none.
	hba := "local all all peer map=daawo\n" +
		"local replication all peer map=daawo\n" +
		"host all all 127.0.0.1/32 scram-sha-256\n"
	ident := fmt.Sprintf("daawo %q all\n", s.owner.name)
	if s.owner.other {
		ident += "daawo root all\n"
	}
	for name, text := range map[string]string{configFile: conf.String(), hbaFile: hba, identFile: ident} {
		file := filepath.Join(s.opt.Data, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return explain("write "+file, s.opt, err)
		}
		if err := s.owner.chown(file); err != nil {
			return err
		}
	}
	if s.opt.distribution() == official {
		if err := s.writeKeyScript(); err != nil {
			return explain("write "+keyScript, s.opt, err)
		}
	}
	return s.writeReadOnly(s.readOnly.Load())
}

// durable lists the settings that must be on, or acknowledged writes can be lost.
var durable = []string{"fsync", "full_page_writes", "synchronous_commit"}

// arguments returns the postmaster's arguments: the place of its configuration,
// and the settings that neither that file nor ALTER SYSTEM can change.
func (s *Server) arguments() []string {
	value := "on"
	if s.opt.Volatile {
		value = "off"
	}
	args := []string{"-D", s.opt.Data, "-c", "config_file=" + filepath.Join(s.opt.Data, configFile)}
	for _, name := range durable {
		args = append(args, "-c", name+"="+value)
	}
	return args
}

// checkDurable returns an error if the server may lose acknowledged writes.
// ALTER DATABASE and ALTER ROLE can still turn the durable settings off.
func (s *Server) checkDurable(ctx context.Context, conn *pgconn.PgConn) error {
	if s.opt.Volatile {
		return nil
	}
	res := conn.ExecParams(ctx, `
		select name, setting, source
		from pg_settings
		where name = any (string_to_array($1, ',')) and setting <> 'on'`,
		[][]byte{[]byte(strings.Join(durable, ","))}, nil, nil, nil).Read()
	if res.Err != nil {
		return fmt.Errorf("read settings: %w", res.Err)
	}
	for _, row := range res.Rows {
		return userErrorf(ErrNotDurable,
			"Postgres runs with %s = %s (set for the %s) and could lose acknowledged writes: reset it with `echo "+
				"'alter %[3]s … reset %[1]s' | %s --single -D %s postgres`",
			row[0], row[1], row[2], filepath.Join(s.run, "bin", "postgres"), s.opt.Data)
	}
	return nil
}
