package doctor

import (
	"slices"
	"testing"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/testdb"
)

// TestTablesOfRealtime checks which tables are named for the DELETE that users do not get, and for
// partitions that clients can read past the policies of their root.
func TestTablesOfRealtime(t *testing.T) {
	db := testdb.New(t)
	db.ExecAs("supabase_admin", `
		create table public.owned (id int primary key, owner uuid);
		create table public.complete (id int primary key, owner uuid);
		create table public.keyed (owner uuid primary key);
		create table public.unpublished (id int primary key, owner uuid);
		alter table public.complete replica identity full;
		create table public.events (id int, owner uuid) partition by range (id);
		create table public.events_1 partition of public.events for values from (0) to (10);
		create table public.events_2 partition of public.events for values from (10) to (20);
		alter table public.events_2 enable row level security;
		grant select on public.events_1, public.events_2 to anon;
		alter publication supabase_realtime add table public.owned, public.complete, public.keyed`)
	for _, table := range []string{"owned", "complete", "keyed", "unpublished", "events"} {
		db.ExecAs("supabase_admin", `alter table public.`+table+` enable row level security;
			create policy own on public.`+table+` for select using (owner = auth.uid())`)
	}
	c := &checker{Options: installation.Options{Config: &config.Config{}}}
	conn := db.Conn("supabase_admin")
	if err := c.hiddenDeletes(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	if err := c.openPartitions(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range c.findings {
		got = append(got, f.Says)
	}
	want := []string{
		"users get no DELETE of public.owned, because its policies read columns that are not in its primary key: " +
			"alter table public.owned replica identity full",
		"the partition public.events_1 can be read past the policies of its root: " +
			"alter table public.events_1 enable row level security",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
