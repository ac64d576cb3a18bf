package doctor

import (
	"slices"
	"testing"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/testdb"
)

// TestMissingIndexes checks which columns of large tables are named: those that a policy compares
// with the user, and those of foreign keys, if no index begins with them.
func TestMissingIndexes(t *testing.T) {
	db := testdb.New(t)
	db.ExecAs("supabase_admin", `
		create table public.shops (id int primary key);
		create table public.orders (id int primary key, owner uuid, "the shop" int references public.shops, state text);
		create table public.indexed (id int primary key, owner uuid, shop int references public.shops);
		create index on public.indexed (owner, id);
		create index on public.indexed (shop);
		create table public.small (id int primary key, owner uuid);
		create table public.events (id int, owner uuid) partition by range (id);
		create table public.events_1 partition of public.events for values from (0) to (10);`)
	for _, table := range []string{"orders", "indexed", "small", "events"} {
		db.ExecAs("supabase_admin", `alter table public.`+table+` enable row level security;
			create policy own on public.`+table+` for select using ((select auth.uid()) = owner)`)
	}
	db.ExecAs("supabase_admin", `
		create policy published on public.orders for select using (state = 'published');
		create policy written on public.orders for insert with check (state = auth.email());
		-- As analyze leaves it for tables of that size.
		update pg_class set reltuples = 2000000 where relname in ('orders', 'indexed', 'events_1')`)
	c := &checker{Options: installation.Options{Config: &config.Config{}}}
	if err := c.indexes(t.Context(), db.Conn("supabase_admin")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range c.findings {
		got = append(got, f.Says)
	}
	want := []string{
		"no index of public.events begins with owner, which its policy own compares, so requests read the whole table: " +
			"create index on public.events (owner)",
		"no index of public.orders begins with owner, which its policy own compares, so requests read the whole table: " +
			"create index concurrently on public.orders (owner)",
		`no index of public.orders begins with "the shop", which the foreign key "orders_the shop_fkey" has, so requests ` +
			`read the whole table: create index concurrently on public.orders ("the shop")`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
