package installation

import (
	"io/fs"

	"daawo/supabase/internal/database/server"
)

// PostgresSource returns the Postgres that the stack runs: that of POSTGRES_HOME, or the embedded
// one.
func (o Options) PostgresSource() (fs.FS, error) {
	if home := o.Config.PostgresHome; home != "" {
		return server.OpenHome(home)
	}
	return o.Postgres()
}
