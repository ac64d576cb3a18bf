package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"daawo/scripts/server"
)

// size is how much one stack of the comparison of scales holds.
type size struct {
	name                 string
	rows, users, objects int // users divides rows
}

// The two sizes. The rows belong to the users evenly, so that each user sees a hundred.
var sizes = []size{
	{"large", 10_000_000, 100_000, 100_000},
	{"small", 10_000, 100, 1000},
}

// slower is the factor up to which a request may take longer with the large size.
const slower = 1.5

// scaleSchema makes notes of users, which only their owner may read, with a tag for every tenth.
// Among the users are those who sign in.
var scaleSchema = []string{`
create table public.bench_notes (
	id bigint, owner uuid not null, text text not null, written timestamptz not null default now()
);
create table public.bench_tags (
	id bigint generated always as identity primary key, note bigint not null, tag text not null
);
insert into auth.users
	(instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, created_at, updated_at)
select '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', 'authenticated',
	'scale-' || i || '@example.org', '', now(), now(), now()
from generate_series(1, greatest(0, :users - (select count(*) from auth.users where email like 'bench-%'))) as i`, `
insert into public.bench_notes (id, owner, text)
select (k - 1) * ':users'::bigint + u.n, u.id, 'note ' || k
from generate_series(1, ':rows'::bigint / :users) as k
cross join (select id, row_number() over () as n from auth.users
	where email like 'bench-%' or email like 'scale-%') as u`, `
insert into public.bench_tags (note, tag) select id, 'tag ' || id % 7 from public.bench_notes where id % 10 = 0`, `
alter table public.bench_notes add primary key (id), enable row level security;
create index on public.bench_notes (owner, id);
alter table public.bench_tags add foreign key (note) references public.bench_notes;
create index on public.bench_tags (note);
create policy own on public.bench_notes for all to authenticated
	using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
grant select on public.bench_notes, public.bench_tags to authenticated, service_role;
notify pgrst, 'reload schema'`,
	"vacuum (analyze) public.bench_notes, public.bench_tags"}

// scale compares the same requests to the same program with much and with little data. It returns
// an error that names the requests whose median time is more than slower times as long.
func (c choice) scale(ctx context.Context) error {
	var m *model
	for _, s := range sizes {
		st, err := server.New(ctx, c.binary)
		if err != nil {
			return err
		}
		defer st.Close()
		if m == nil {
			if m, err = newModel(ctx, st); err != nil {
				return err
			}
			m.client.Transport = &direct{idle: map[string][]*directConn{}}
		}
		m.stacks = append(m.stacks, namedStack{s.name, st})
	}
	auth, accounts, err := signIn(ctx, m)
	if err != nil {
		return err
	}
	for i, st := range m.stacks {
		fmt.Fprintf(os.Stderr, "writing %d rows, %d users and %d objects\n", sizes[i].rows, sizes[i].users, sizes[i].objects)
		if err := fillScale(ctx, m, st, sizes[i]); err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, sidesHeader)
	var missed []string
	for _, r := range scaleRows(m, auth, accounts) {
		for _, clients := range []int{1, 8} {
			found, err := m.compare(ctx, table, r, clients, c.sideTurns())
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if times := float64(found[0].percentile(0.5)) / float64(found[1].percentile(0.5)); times > slower {
				missed = append(missed, fmt.Sprintf("%s, %d clients: %.2f times", r.name, clients, times))
			}
		}
	}
	if err := table.Flush(); err != nil || len(missed) == 0 {
		return err
	}
	return fmt.Errorf("slower than %g times with %d rows: %s", slower, sizes[0].rows, strings.Join(missed, "; "))
}

// fillScale writes the data of a size.
func fillScale(ctx context.Context, m *model, st namedStack, s size) error {
	conn, err := st.DB(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, q := range scaleSchema {
		q = strings.NewReplacer(":users", strconv.Itoa(s.users), ":rows", strconv.Itoa(s.rows)).Replace(q)
		if _, err := conn.Exec(ctx, q); err != nil {
			return err
		}
	}
	storage := target{st.Get("API_URL") + "/storage/v1", st.Get("SERVICE_ROLE_KEY"), st.Get("SERVICE_ROLE_KEY")}
	if err := m.sendTo(ctx, storage, http.MethodPost, "/bucket", []byte(`{"id":"scale","name":"scale"}`), nil); err != nil {
		return err
	}
	return insertObjects(ctx, st.Get("DB_URL"), "scale", s.objects)
}

// scaleRows returns the requests of the comparison.
func scaleRows(m *model, auth []served, accounts [][]*account) []row {
	read := func(path string, headers map[string]string) func(*account, context.Context) error {
		return func(a *account, ctx context.Context) error {
			rest := target{strings.TrimSuffix(a.url, "/auth/v1") + "/rest/v1", a.apikey, a.accessToken}
			return m.sendTo(ctx, rest, http.MethodGet, path, nil, headers)
		}
	}
	list := "/bench_notes?select=id,text&order=id.desc&limit=25"
	kinds := []struct {
		name string
		do   func(*account, context.Context) error
	}{
		{"REST: a user's list", read(list, nil)},
		{"REST: a user's list, embed", read("/bench_notes?select=id,text,bench_tags(tag)&order=id.desc&limit=25", nil)},
		{"REST: a user's list, estimated count", read(list, map[string]string{"Prefer": "count=estimated"})},
		{"auth: sign-in", (*account).login},
		{"auth: refresh", (*account).refresh},
		{"auth: GET /user", (*account).user},
	}
	var rows []row
	for _, k := range kinds {
		rows = append(rows, accountRow(k.name, auth, accounts, k.do))
	}
	all := newRow("REST: all rows, estimated count", m.servers("/rest/v1", "SERVICE_ROLE_KEY"), func(t target) side {
		return side{do: func(ctx context.Context, _, _ int) error {
			return m.sendTo(ctx, t, http.MethodGet, "/bench_notes?select=id&limit=1", nil,
				map[string]string{"Prefer": "count=estimated"})
		}}
	})
	return append(rows, all, newRow("storage: list", m.servers("/storage/v1", "SERVICE_ROLE_KEY"), func(t target) side {
		return side{do: func(ctx context.Context, _, _ int) error {
			return m.sendTo(ctx, t, http.MethodPost, "/object/list/scale", []byte(`{"prefix":"many","limit":100}`), nil)
		}}
	}))
}
