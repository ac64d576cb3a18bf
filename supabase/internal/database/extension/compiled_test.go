package extension_test

import (
	"fmt"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
)

// nearest is the order of three vectors by their distance to one.
const nearest = `select array_agg(id order by embedding operator(extensions.<->) '[1,0,0]') from items`

func TestVector(t *testing.T) {
	d := testdb.New(t)
	d.Need("vector")
	d.Exec(`create extension vector with schema extensions;
		create table items (id int primary key, embedding extensions.vector(3));
		insert into items values (1, '[0.9,0.1,0]'), (2, '[0,1,0]'), (3, '[1,0,0]')`)
	conn, want := d.Conn("postgres"), []int32{3, 1, 2}
	for _, index := range []string{"hnsw", "ivfflat"} {
		d.Exec(fmt.Sprintf(`create index by_%s on items using %[1]s (embedding extensions.vector_l2_ops)`, index))
		if got := testdb.Value[[]int32](d, nearest); !cmp.Equal(got, want) {
			t.Errorf("with %s: %v, want %v", index, got, want)
		}
		var plan string
		if _, err := conn.Exec(t.Context(), `set enable_seqscan = off`); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), `explain (format json) select id from items order by embedding
			operator(extensions.<->) '[1,0,0]' limit 1`).Scan(&plan); err != nil || !strings.Contains(plan, "by_"+index) {
			t.Errorf("the search does not use the index %s: %v, %s", index, err, plan)
		}
		d.Exec(`drop index by_` + index)
	}
}

func TestIndexAdvisor(t *testing.T) {
	d := testdb.New(t)
	d.Need("hypopg")
	d.Exec(`create extension index_advisor with schema extensions cascade;
		create table public.books (id int primary key, title text, pages int);
		insert into books select i, 'title ' || i, i % 1000 from generate_series(1, 20000) i;
		analyze books`)
	got := testdb.Value[[]string](d,
		`select index_statements
		from extensions.index_advisor('select id from public.books where title = $1;')`)
	if len(got) != 1 || !strings.Contains(got[0], "public.books") || !strings.Contains(got[0], "(title)") {
		t.Errorf("got %q", got)
	}
	if n := testdb.Value[bool](d, `select (total_cost_after::float < total_cost_before::float) and errors = '{}'
		from extensions.index_advisor('select id from public.books where title = $1 and pages > 2')`); !n {
		t.Error("the index costs more")
	}
	wrong := testdb.Value[[]string](d, `select errors from extensions.index_advisor('select missing')`)
	if len(wrong) != 1 {
		t.Errorf("errors of a wrong query: %q", wrong)
	}
	if n := testdb.Value[int](d, `select count(*)::int from pg_indexes where tablename = 'books'`); n != 1 {
		t.Errorf("%d indexes were made", n)
	}
}

func TestPostGIS(t *testing.T) {
	d := testdb.New(t)
	d.Need("postgis")
	d.Exec(`create extension postgis with schema extensions;
		create table public.places (name text, at extensions.geography(point, 4326));
		create index on public.places using gist (at);
		insert into places values ('Hargeisa', 'point(44.06 9.56)'), ('Berbera', 'point(45.01 10.44)')`)
	near := testdb.Value[[]string](d, `select array_agg(name) from public.places
		where extensions.st_dwithin(at, 'point(44 9.5)', 20000)`)
	if !cmp.Equal(near, []string{"Hargeisa"}) {
		t.Errorf("near: %q", near)
	}
	got := testdb.Value[string](d, `select extensions.st_asgeojson(extensions.st_transform(
		extensions.st_buffer(extensions.st_geomfromgeojson('{"type": "Point", "coordinates": [0, 0]}'), 1, 1), 3857), 0)`)
	if !strings.Contains(got, "[111319,0]") {
		t.Errorf("with GEOS, PROJ and json-c: %s", got)
	}
}

func TestCompiledExtensions(t *testing.T) {
	d := testdb.New(t)
	for _, name := range []string{"vector", "hypopg", "plpgsql_check", "pgtap"} {
		d.Need(name)
		d.Exec(`create extension ` + name + ` with schema extensions; drop extension ` + name)
	}
}
