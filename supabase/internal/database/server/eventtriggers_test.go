package server

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestEventTriggersNeedLibrary starts a data folder with an event trigger of postgres without the
// library.
func TestEventTriggersNeedLibrary(t *testing.T) {
	o := options(t)
	s := start(t, o)
	if !s.hasEventTriggers() {
		t.Skip(WhyAbsent(".", EventTriggers))
	}
	err := s.withConn(t.Context(), func(conn *pgconn.PgConn) error {
		_, err := conn.Exec(t.Context(), `
		create role postgres login;
		create function notice() returns event_trigger language plpgsql as 'begin end';
		create event trigger "Theirs" on ddl_command_end execute function notice();
		create event trigger ours on ddl_command_end execute function notice();
		alter event trigger "Theirs" owner to postgres`).ReadAll()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	enabled := func(s *Server) string {
		return query(t, s.URL(Superuser), `
			select string_agg(evtname || ' ' || evtenabled::text, ', ' order by evtname) from pg_event_trigger`)
	}
	stop(t, s)
	s = start(t, o)
	if got := enabled(s); got != "Theirs O, ours O" {
		t.Errorf("with the library: %s", got)
	}
	stop(t, s)
	at, err := findModules(".")
	if err != nil {
		t.Fatal(err)
	}
	o.Source = os.DirFS(packageDir(at))
	if got := enabled(start(t, o)); got != "Theirs D, ours O" {
		t.Errorf("without the library: %s", got)
	}
}
