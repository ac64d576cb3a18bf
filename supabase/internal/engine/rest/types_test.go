package rest_test

import (
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// towns defines columns of composite and array types, for JSON paths, and functions whose results
// or arguments have no columns.
const towns = `
create type api.coordinates as (lat float8, long float8);
create table api.towns (id int primary key, at api.coordinates, tongues text[], stops api.coordinates[]);
insert into api.towns values
  (1, (2.04, 45.34), '{so,ar}', '{"(2.05,45.3)","(2.06,45.4)"}'),
  (2, (9.56, 44.06), '{so}', '{}');
create function api.everything() returns setof record language sql stable as $$ select id, tongues from api.towns $$;
create function api.something() returns record language sql stable as $$ select id, tongues from api.towns where id = 2 $$;
create function api.lats(list jsonb) returns float8 language sql immutable as $$ select sum((e->>'lat')::float8) from jsonb_array_elements(list) e $$;
create function api.joined(words text[]) returns text language sql immutable as $$ select array_to_string(words, '-') $$;
grant all on api.towns to anon;`

// TestCompositesAndRecords checks columns of composite and array types, untyped records, and lists
// as arguments.
func TestCompositesAndRecords(t *testing.T) {
	database := testdb.New(t)
	database.Exec(library)
	database.Exec(towns)
	b := openOn(t, database, nil)
	b.run(t, []scenario{
		{name: "whole", url: "/towns?select=at,tongues&id=eq.1",
			want: `[{"at":{"lat":2.04,"long":45.34},"tongues":["so","ar"]}]`},
		{name: "field of a composite", url: "/towns?select=id,at->lat,where:at->>long&order=id",
			want: `[{"id":1,"lat":2.04,"where":"45.34"},{"id":2,"lat":9.56,"where":"44.06"}]`},
		{name: "element of an array", url: "/towns?select=first:tongues->0,last:tongues->>-1&order=id",
			want: `[{"first":"so","last":"ar"},{"first":"so","last":"so"}]`},
		{name: "field of an element", url: "/towns?select=stops->1->>lat&id=eq.1", want: `[{"lat":"2.06"}]`},
		{name: "filter by a field", url: "/towns?select=id&at->lat=gt.5", want: `[{"id":2}]`},
		{name: "filter by an element", url: "/towns?select=id&tongues->>1=eq.ar", want: `[{"id":1}]`},
		{name: "order by a field", url: "/towns?select=id&order=at->lat.desc", want: `[{"id":2},{"id":1}]`},
		{name: "write a composite", method: "PATCH", url: "/towns?id=eq.2&select=at,stops",
			header: "Prefer: return=representation",
			body:   `{"at":{"lat":1,"long":2},"stops":[{"lat":3,"long":4}]}`,
			want:   `[{"at":{"lat":1,"long":2},"stops":[{"lat":3,"long":4}]}]`},
		{name: "set of untyped records", url: "/rpc/everything",
			want: `[{"id":1,"tongues":["so","ar"]},{"id":2,"tongues":["so"]}]`},
		{name: "untyped record", url: "/rpc/something", want: `{"id":2,"tongues":["so"]}`},
		{name: "list of objects", method: "POST", url: "/rpc/lats", body: `{"list":[{"lat":1.5},{"lat":2}]}`,
			want: `3.5`},
		{name: "list by get", url: "/rpc/joined?words={a,b}", want: `"a-b"`},
		{name: "list by post", method: "POST", url: "/rpc/joined", body: `{"words":["a","b"]}`, want: `"a-b"`},
	})
}
