package installation

import (
	"io/fs"
	"os"

	"daawo/supabase/internal/database/server"
)

// PostgresSource returns the Postgres that the stack runs: that of POSTGRES_HOME, or the embedded
// one with the extensions that were added to the installation.
func (o Options) PostgresSource() (fs.FS, error) {
	if home := o.Config.PostgresHome; home != "" {
		return server.OpenHome(home)
	}
	pkg, err := o.Postgres()
	if err != nil {
		return nil, err
	}
	return server.WithExtensions(pkg, os.DirFS(server.AddedDir(o.Data))), nil
}
