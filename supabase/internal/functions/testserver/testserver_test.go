package testserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/functions/testserver"

	"github.com/jackc/pgx/v5"
)

// TestServeExtensions checks that a project with the extensions of the tour gets databases.
func TestServeExtensions(t *testing.T) {
	source, err := server.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	project := fstest.MapFS{"migrations/1_cron.sql": {Data: []byte(`
		create extension pg_cron;
		select cron.schedule('expire', '* * * * *', 'select 1');
		create extension pg_net;
		create extension pgmq;
		select pgmq.create('review');
		select vault.create_secret('s3cret', 'token');`)}}
	in, commands := io.Pipe()
	replies, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := testserver.Serve(t.Context(), testserver.Options{Source: source, Project: project, In: in, Out: out})
		out.CloseWithError(io.EOF)
		served <- err
	}()
	lines := bufio.NewScanner(replies)
	for range 2 {
		fmt.Fprintln(commands, "new")
		if !lines.Scan() {
			t.Fatal("no reply", <-served)
		}
		var made struct {
			URLs  map[string]string
			Error string
		}
		if err := json.Unmarshal(lines.Bytes(), &made); err != nil || made.Error != "" {
			t.Fatal(made.Error, err)
		}
		conn, err := pgx.Connect(t.Context(), made.URLs["postgres"])
		if err != nil {
			t.Fatal(err)
		}
		// A test drops and creates the extension as its project does.
		for _, sql := range []string{
			`select cron.schedule('more', '* * * * *', 'select 2')`, `drop extension pg_cron`,
			`create extension pg_cron`,
		} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	commands.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
