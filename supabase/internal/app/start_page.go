package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
)

// startPage is the page of a stack without a site.
type startPage struct{ *services }

// content returns what the page shows. private is as in front.ServeStartPage.
func (s startPage) content(ctx context.Context, private bool) front.StartPage {
	page := front.StartPage{
		Project: s.Config.ProjectID, Command: s.Config.Command, Version: s.Version,
		Links: s.applications(), Addresses: s.apiAddresses(),
	}
	if !private || s.db == nil {
		return page
	}
	page.Keys, page.KeysNote = s.shownKeys()
	page.Snippets = s.snippets()
	list := s.listedFunctions()
	for _, f := range list.functions {
		page.Functions = append(page.Functions, front.Row{Label: f.name, Value: s.Public + "/functions/v1/" + f.name,
			Text: list.deployed.Format("2006-01-02 15:04")})
	}
	history, err := s.migrationHistory(ctx)
	if err != nil {
		page.Problem = "The database does not answer at the moment."
		s.Log.Warn("migrations for the start page", "error", err)
	}
	page.Applied = len(history)
	for _, m := range slices.Backward(history) {
		page.Migrations = append(page.Migrations, front.Row{Label: m.Version, Value: cmp.Or(m.Name, m.Version)})
	}
	return page
}

// applications returns the pages that a developer opens.
func (s startPage) applications() []front.Row {
	var rows []front.Row
	add := func(label, address, text string) {
		if address != "" {
			rows = append(rows, front.Row{Label: label, Value: address, Text: text})
		}
	}
	add("Studio", cmp.Or(s.Studio, s.Config.StudioURL), "tables, SQL, users, files")
	add("Desk", s.Admin, "the project's own administration")
	add("Inbox", cmp.Or(s.inbox, s.Config.InboxURL), "mails of this server")
	add("Documentation", "https://supabase.com/docs", "supabase.com/docs")
	return rows
}

// apiAddresses returns the addresses of the services that run.
func (s startPage) apiAddresses() []front.Row {
	rows := []front.Row{{Label: "URL", Value: s.Public}}
	for _, r := range []struct {
		label, path string
		handler     http.Handler
	}{
		{"REST", "/rest/v1", s.rest}, {"Auth", "/auth/v1", s.auth}, {"Storage", "/storage/v1", s.storage},
		{"Functions", "/functions/v1", s.functions}, {"Realtime", "/realtime/v1", s.realtime},
	} {
		if r.handler != nil {
			rows = append(rows, front.Row{Label: r.label, Value: s.Public + r.path})
		}
	}
	return rows
}

// shownKeys returns the keys that the page may show: secret ones only if every installation on
// loopback has them.
func (s startPage) shownKeys() (rows []front.Row, note string) {
	set := s.keys.Current()
	rows = []front.Row{{Label: "Publishable key", Value: set.Publishable}}
	if demo := keys.Demo(); set.Secret != demo.Secret || set.ServiceRole != demo.ServiceRole {
		return rows, "The secret keys of this server are not shown on a page."
	}
	rows = append(rows, front.Row{Label: "Secret key", Value: set.Secret},
		front.Row{Label: "anon key", Value: set.Anon},
		front.Row{Label: "service_role key", Value: set.ServiceRole})
	if s.Config.DatabaseURL == "" {
		rows = append(rows, front.Row{Label: "Database", Value: s.db.Public()})
	}
	return rows, "These are the well-known local keys of the official CLI. They are accepted on this machine only."
}

// snippets returns how programs connect.
func (s startPage) snippets() []front.Row {
	key := s.keys.Current().Publishable
	return []front.Row{
		{Label: "JavaScript", Value: fmt.Sprintf("import { createClient } from \"@supabase/supabase-js\"\n\n"+
			"const supabase = createClient(\"%s\", \"%s\")", s.Public, key)},
		{Label: "Environment", Value: fmt.Sprintf("SUPABASE_URL=%s\nSUPABASE_ANON_KEY=%s", s.Public, key)},
		{Label: "curl", Value: fmt.Sprintf("curl '%s/rest/v1/TABLE?select=*' -H 'apikey: %s'", s.Public, key)},
		{Label: "SQL", Value: s.Config.Command + " sql\n" + s.Config.Command + " gen types typescript > types.ts"},
	}
}

// migrationHistory returns the applied migrations of the project, the oldest first.
func (s startPage) migrationHistory(ctx context.Context) (history []migrate.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err = pool.WithConn(ctx, s.db.URL("postgres"), func(conn *pgx.Conn) (err error) {
		history, err = migrate.History(ctx, conn)
		return err
	})
	return history, err
}
