package installation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/parts"
)

// PostgresPart is the Postgres that Supabase publishes as an archive, with every extension of
// supabase/postgres.
var PostgresPart = parts.Part{Name: "postgres", Version: "17.6.1.165", Program: "bin/postgres"}

// PostgresSource returns the Postgres that the stack runs: that of db.distribution or
// POSTGRES_HOME, or the embedded one with the extensions that were added to the installation.
func (o Options) PostgresSource() (fs.FS, error) {
	if o.Config.DB.Distribution == config.SupabasePostgres {
		return o.OfficialPostgres()
	}
	return o.EmbeddedPostgres()
}

// OfficialPostgres returns the Postgres of the archive that was added to the project.
func (o Options) OfficialPostgres() (*server.Home, error) {
	if o.Added == nil {
		return nil, errors.New("db.distribution: this program has no folder of added programs; use embedded")
	}
	p, err := o.Added.Locked(PostgresPart)
	if err != nil {
		return nil, err
	}
	dir, ok, err := o.Added.Find(p)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("db.distribution: Supabase's Postgres %s is not on this machine; `daawo postgres add` gets it",
			p.Version)
	}
	return server.OpenOfficial(dir)
}

// EmbeddedPostgres returns the Postgres of the embedded distribution.
func (o Options) EmbeddedPostgres() (fs.FS, error) {
	if home := o.Config.PostgresHome; home != "" {
		return server.OpenHome(home)
	}
	pkg, err := o.Postgres()
	if err != nil {
		return nil, err
	}
	return server.WithExtensions(pkg, os.DirFS(server.AddedDir(o.Data))), nil
}
