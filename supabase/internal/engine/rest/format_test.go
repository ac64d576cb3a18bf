package rest_test

import (
	"regexp"
	"testing"

	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/rest"
)

func TestFormats(t *testing.T) {
	b := open(t, func(c *rest.Config) { c.PlanEnabled = true })
	b.run(t, []scenario{
		{name: "json", url: "/shelves?id=eq.1", reply: "Content-Type: application/json; charset=utf-8"},
		{name: "object", url: "/shelves?id=eq.1", header: "Accept: application/vnd.pgrst.object+json",
			want: `{"id":1,"label":"A"}`, reply: "Content-Type: application/vnd.pgrst.object+json; charset=utf-8"},
		{name: "object of several rows", url: "/shelves", header: "Accept: application/vnd.pgrst.object+json",
			status: 406,
			want:   `{"code":"PGRST116","message":"Cannot coerce the result to a single JSON object","details":"The result contains 3 rows","hint":null}`},
		{name: "nulls stripped", url: "/authors?select=id,born&id=eq.3",
			header: "Accept: application/vnd.pgrst.array+json;nulls=stripped", want: `[{"id":3}]`},
		{name: "object with nulls stripped", url: "/authors?select=id,born&id=eq.3",
			header: "Accept: application/vnd.pgrst.object+json;nulls=stripped", want: `{"id":3}`},
		{name: "csv", url: "/authors?select=id,name,tags&id=eq.1", header: "Accept: text/csv",
			want:  "=id,name,tags\n1,\"Nuruddin Farah\",\"{novel,essay}\"",
			reply: "Content-Type: text/csv; charset=utf-8"},
		{name: "csv of a function", url: "/rpc/grid?limit=1", header: "Accept: text/csv", want: "=n,square\n1,1"},
		{name: "preferred by quality", url: "/shelves?id=eq.1", header: "Accept: text/csv;q=0.5, application/json",
			reply: "Content-Type: application/json; charset=utf-8"},
		{name: "function of a media type", url: "/rpc/page", header: "Accept: text/html", want: "=<p>hello</p>",
			reply: "Content-Type: text/html"},
		{name: "bytes", url: "/rpc/picture", header: "Accept: image/test", want: "=\x01\x02\xff",
			reply: "Content-Type: image/test\nContent-Length: 3"},
		{name: "aggregate of a media type", url: "/shelves?order=id", header: "Accept: application/vnd.lines",
			want: "=A|B|empty|", reply: "Content-Type: application/vnd.lines"},
		{name: "handler of another table", url: "/authors", header: "Accept: application/vnd.lines", status: 406},
		{name: "plan", url: "/shelves?id=eq.1",
			header: "Accept: application/vnd.pgrst.plan+json; for=\"application/json\"; options=verbose",
			reply:  `Content-Type: application/vnd.pgrst.plan+json; for="application/json"; options=verbose; charset=utf-8`},
		{name: "plan as text", url: "/shelves?id=eq.1", header: "Accept: application/vnd.pgrst.plan"},
		{name: "options of a table", method: "OPTIONS", url: "/shelves",
			reply: "Allow: OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE"},
		{name: "options of a function", method: "OPTIONS", url: "/rpc/add", status: 404},
		{name: "options of a volatile function", method: "OPTIONS", url: "/rpc/nothing", reply: "Allow: OPTIONS,POST"},
		{name: "options of the root", method: "OPTIONS", url: "/", reply: "Allow: OPTIONS,GET,HEAD"},
		{name: "preflight", method: "OPTIONS", url: "/shelves",
			header: "Origin: http://a.example\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Headers: X-One", reply: "Access-Control-Allow-Origin: *\nAccess-Control-Allow-Headers: Authorization, X-One, Accept, Accept-Language, Content-Language"},
	})
	off := openOn(t, b.db, func(c *rest.Config) {
		c.CORSOrigins = []string{"http://a.example"}
		c.ServerTiming, c.TraceHeader = true, "X-Request-Id"
	})
	off.run(t, []scenario{
		{name: "plan disabled", url: "/shelves", header: "Accept: application/vnd.pgrst.plan", status: 406},
		{name: "allowed origin", url: "/shelves?limit=0", header: "Origin: http://a.example",
			reply: "Access-Control-Allow-Origin: http://a.example\nAccess-Control-Allow-Credentials: true"},
		{name: "other origin", url: "/shelves?limit=0", header: "Origin: http://b.example",
			reply: "Access-Control-Allow-Origin:"},
		{name: "trace header", url: "/shelves?limit=0", header: "X-Request-Id: 7", reply: "X-Request-Id: 7"},
	})
	for _, s := range []scenario{{url: "/shelves?limit=0"}, {url: "/"}, {url: "/", method: "HEAD"},
		{url: "/", method: "OPTIONS"}, {url: "/shelves", method: "OPTIONS"}} {
		w := off.do(t, s)
		for _, phase := range []string{"jwt", "parse", "plan", "transaction", "response"} {
			if !regexp.MustCompile(phase + `;dur=\d+\.\d+`).MatchString(w.Header().Get("Server-Timing")) {
				t.Errorf("%s %s: Server-Timing %q lacks %s", s.method, s.url, w.Header().Get("Server-Timing"), phase)
			}
		}
	}
}

// soap defines functions that take and return a whole XML document, like PostgREST's how-to for
// SOAP.
const soap = `
create domain api."text/xml" as pg_catalog.xml;
create function api.fraction(xml) returns api."text/xml" language sql immutable as $$
  select xmlelement(name reply, (xpath('/ask/top/text()', $1))[1]::text::float8 / (xpath('/ask/bottom/text()', $1))[1]::text::float8)
$$;
create function api.document(xml) returns xml language sql immutable as $$ select $1 $$;`

// TestXML checks that an XML body becomes the single unnamed argument, and that a handler can
// return XML.
func TestXML(t *testing.T) {
	database := testdb.New(t)
	database.Exec(library)
	database.Exec(soap)
	b := openOn(t, database, nil)
	const ask = `<ask><top>1</top><bottom>4</bottom></ask>`
	b.run(t, []scenario{
		{name: "request and reply", method: "POST", url: "/rpc/fraction",
			header: "Content-Type: text/xml\nAccept: text/xml", body: ask, want: "=<reply>0.25</reply>",
			reply: "Content-Type: text/xml; charset=utf-8"},
		{name: "default format", method: "POST", url: "/rpc/fraction", header: "Content-Type: text/xml", body: ask,
			want: `"<reply>0.25</reply>"`},
		{name: "as JSON", method: "POST", url: "/rpc/document", header: "Content-Type: text/xml",
			body: `<a href="b">ü</a>`, want: `"<a href=\"b\">ü</a>"`},
		{name: "invalid XML", method: "POST", url: "/rpc/document", header: "Content-Type: text/xml", body: `<a>`,
			status: 400},
		{name: "wrong content type", method: "POST", url: "/rpc/document", header: "Content-Type: text/plain",
			body: `<a/>`, status: 404},
		{name: "function without XML parameter", method: "POST", url: "/rpc/add", header: "Content-Type: text/xml",
			body: `<a/>`, status: 404},
		{name: "no handler", url: "/shelves", header: "Accept: text/xml", status: 406},
	})
}

// places replaces PostGIS: it defines a type geometry and the function that the engine calls, with
// the signature and result of PostGIS. The function expects the geometry in a column of that name.
const places = `
create type public.geometry as (x float8, y float8);
create function public.st_asgeojson(feature record, geom_column text default '', maxdecimaldigits int default 9, pretty bool default false)
  returns text language plpgsql immutable as $$
declare
  properties jsonb := to_jsonb(feature);
begin
  return json_build_object('type', 'Feature',
    'geometry', case when properties ? 'geometry' then json_build_object('type', 'Point',
      'coordinates', json_build_array(properties #> '{geometry,x}', properties #> '{geometry,y}')) end,
    'properties', properties - 'geometry');
end $$;
create table api.places (id int primary key, name text, geometry public.geometry);
insert into api.places values (1, 'First', (45.34, 2.04)), (2, 'Second', (44.06, 9.56)), (3, 'Third', (49.18, 11.28));
create function api.places_north(of float8) returns setof api.places language sql stable as $$
  select * from api.places where (geometry).y > $1 order by id
$$;
grant all on api.places to anon;`

// TestGeoJSON checks replies of tables, functions and mutations as a collection of features.
func TestGeoJSON(t *testing.T) {
	database := testdb.New(t)
	database.Exec(library)
	without := openOn(t, database, nil)
	without.run(t, []scenario{
		{name: "without PostGIS", url: "/shelves", header: "Accept: application/geo+json", status: 404,
			want: `{"code":"42883","message":"function st_asgeojson(record) does not exist","details":null,"hint":"No function matches the given name and argument types. You might need to add explicit type casts."}`},
	})
	database.Exec(places)
	b := openOn(t, database, nil)
	const first = `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[45.34,2.04]},"properties":{"id":1,"name":"First"}}]}`
	const names = `{"type":"FeatureCollection","features":[
		{"type":"Feature","geometry":{"type":"Point","coordinates":[44.06,9.56]},"properties":{"name":"Second"}},
		{"type":"Feature","geometry":{"type":"Point","coordinates":[49.18,11.28]},"properties":{"name":"Third"}}]}`
	b.run(t, []scenario{
		{name: "table", url: "/places?id=eq.1", header: "Accept: application/geo+json", want: first,
			reply: "Content-Type: application/geo+json; charset=utf-8\nContent-Range: 0-0/*"},
		{name: "columns, order, limit", url: "/places?select=name,geometry&order=id&offset=1&limit=2",
			header: "Accept: application/geo+json", want: names, reply: "Content-Range: 1-2/*"},
		{name: "counted", url: "/places?select=name,geometry&id=gt.1&order=id",
			header: "Accept: application/geo+json\nPrefer: count=exact", want: names, reply: "Content-Range: 0-1/2"},
		{name: "no rows", url: "/places?id=eq.9", header: "Accept: application/geo+json",
			want: `{"type":"FeatureCollection","features":[]}`},
		{name: "no geometry", url: "/places?select=id&id=eq.1", header: "Accept: application/geo+json",
			want: `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"id":1}}]}`},
		{name: "function", url: "/rpc/places_north?of=9&select=name,geometry", header: "Accept: application/geo+json",
			want: names},
		{name: "insert", method: "POST", url: "/places?select=name,geometry",
			header: "Accept: application/geo+json\nPrefer: return=representation",
			body:   `{"id":4,"name":"Fourth","geometry":{"x":42.55,"y":-0.36}}`, status: 201,
			want: `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[42.55,-0.36]},"properties":{"name":"Fourth"}}]}`},
	})
}
