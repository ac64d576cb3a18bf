package meta

import "testing"

// TestParseRefusesSockets checks that a URL of a caller neither names a socket of this machine,
// where Postgres trusts the user that runs it, nor gets a password of this process.
func TestParseRefusesSockets(t *testing.T) {
	t.Setenv("PGPASSWORD", "of the server")
	e := &Engine{}
	for _, address := range []string{
		"postgres://supabase_admin@%2Frun%2Fdaawo/postgres", "postgres://a@b/c?host=/run/daawo",
		"postgres://a@b/c?host=b,/run/daawo", "postgres://a@b,c/d", "mysql://a@b/c",
		"postgres:///c",
	} {
		if config, err := e.parse(address); err == nil {
			t.Errorf("%s: accepted as %s", address, config.Host)
		}
	}
	for address, want := range map[string]string{
		"postgres://a@b:5433/c": "", "postgres://a:own@b/c": "own", "postgres://a@b/c?password=own": "own",
	} {
		config, err := e.parse(address)
		if err != nil || config.Host != "b" || config.Password != want {
			t.Errorf("%s: %+v, %v", address, config, err)
		}
	}
}
