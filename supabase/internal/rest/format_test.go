package rest_test

import (
	"testing"

	"daawo/supabase/internal/testdb"
)

// soap is a function that takes a document whole and answers with another, as PostgREST's how-to for SOAP has it.
const soap = `
create domain api."text/xml" as pg_catalog.xml;
create function api.fraction(xml) returns api."text/xml" language sql immutable as $$
  select xmlelement(name reply, (xpath('/ask/top/text()', $1))[1]::text::float8 / (xpath('/ask/bottom/text()', $1))[1]::text::float8)
$$;
create function api.document(xml) returns xml language sql immutable as $$ select $1 $$;`

// TestXML: a body of XML is the one unnamed argument, and a handler's XML goes back as such.
func TestXML(t *testing.T) {
	database := testdb.New(t)
	database.Exec(library)
	database.Exec(soap)
	b := openOn(t, database, nil)
	const ask = `<ask><top>1</top><bottom>4</bottom></ask>`
	b.run(t, []scenario{
		{name: "there and back", method: "POST", url: "/rpc/fraction", header: "Content-Type: text/xml\nAccept: text/xml", body: ask,
			want: "=<reply>0.25</reply>", reply: "Content-Type: text/xml; charset=utf-8"},
		{name: "by default", method: "POST", url: "/rpc/fraction", header: "Content-Type: text/xml", body: ask, want: `"<reply>0.25</reply>"`},
		{name: "as JSON", method: "POST", url: "/rpc/document", header: "Content-Type: text/xml", body: `<a href="b">ü</a>`, want: `"<a href=\"b\">ü</a>"`},
		{name: "no XML", method: "POST", url: "/rpc/document", header: "Content-Type: text/xml", body: `<a>`, status: 400},
		{name: "a body of another kind", method: "POST", url: "/rpc/document", header: "Content-Type: text/plain", body: `<a/>`, status: 404},
		{name: "a function that takes none", method: "POST", url: "/rpc/add", header: "Content-Type: text/xml", body: `<a/>`, status: 404},
		{name: "asked of what has no handler", url: "/shelves", header: "Accept: text/xml", status: 406},
	})
}

// places stands in for PostGIS: a type of its name and the function that the engine calls, with PostGIS's signature and
// shape of reply. A row's geometry is its only column of that type, which is called so here.
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
insert into api.places values (1, 'Muqdisho', (45.34, 2.04)), (2, 'Hargeysa', (44.06, 9.56)), (3, 'Boosaaso', (49.18, 11.28));
create function api.places_north(of float8) returns setof api.places language sql stable as $$
  select * from api.places where (geometry).y > $1 order by id
$$;
grant all on api.places to anon;`

// TestGeoJSON: rows as a collection of features, wherever rows come from.
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
	const muqdisho = `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[45.34,2.04]},"properties":{"id":1,"name":"Muqdisho"}}]}`
	const names = `{"type":"FeatureCollection","features":[
		{"type":"Feature","geometry":{"type":"Point","coordinates":[44.06,9.56]},"properties":{"name":"Hargeysa"}},
		{"type":"Feature","geometry":{"type":"Point","coordinates":[49.18,11.28]},"properties":{"name":"Boosaaso"}}]}`
	b.run(t, []scenario{
		{name: "a table", url: "/places?id=eq.1", header: "Accept: application/geo+json", want: muqdisho,
			reply: "Content-Type: application/geo+json; charset=utf-8\nContent-Range: 0-0/*"},
		{name: "columns, order, limit", url: "/places?select=name,geometry&order=id&offset=1&limit=2", header: "Accept: application/geo+json", want: names,
			reply: "Content-Range: 1-2/*"},
		{name: "counted", url: "/places?select=name,geometry&id=gt.1&order=id", header: "Accept: application/geo+json\nPrefer: count=exact", want: names,
			reply: "Content-Range: 0-1/2"},
		{name: "no rows", url: "/places?id=eq.9", header: "Accept: application/geo+json", want: `{"type":"FeatureCollection","features":[]}`},
		{name: "no geometry", url: "/places?select=id&id=eq.1", header: "Accept: application/geo+json",
			want: `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"id":1}}]}`},
		{name: "a function", url: "/rpc/places_north?of=9&select=name,geometry", header: "Accept: application/geo+json", want: names},
		{name: "an insert", method: "POST", url: "/places?select=name,geometry", header: "Accept: application/geo+json\nPrefer: return=representation",
			body: `{"id":4,"name":"Kismaayo","geometry":{"x":42.55,"y":-0.36}}`, status: 201,
			want: `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[42.55,-0.36]},"properties":{"name":"Kismaayo"}}]}`},
	})
}
