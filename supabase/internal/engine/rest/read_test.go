package rest_test

import (
	"testing"

	"daawo/supabase/internal/engine/rest"
)

func TestOperators(t *testing.T) {
	ids := func(list string) string { return "[" + list + "]" }
	one, two, both := `{"id":1}`, `{"id":2}`, `{"id":1},{"id":2}`
	all := `{"id":1},{"id":2},{"id":3}`
	b := open(t, nil)
	list := func(name, filter, want string) scenario {
		return scenario{name: name, url: "/authors?select=id&order=id&" + filter, want: ids(want)}
	}
	b.run(t, []scenario{
		list("eq", "id=eq.1", one),
		list("neq", "id=neq.3", both),
		list("gt", "id=gt.2", `{"id":3}`),
		list("gte lte", "id=gte.1&id=lte.2", both),
		list("lt", "id=lt.2", one),
		list("like", "name=like.Nur*", one),
		list("like any", "name=like(any).{Nur*,Had*}", both),
		list("like all", "name=like(all).{N*,*h}", one),
		list("ilike", "name=ilike.*HADR*", two),
		list("match", "name=match.^Had", two),
		list("imatch", "name=imatch.^had", two),
		list("eq any", "id=eq(any).{1,2}", both),
		list("in", "id=in.(1,2)", both),
		list("in with quotes", `name=in.("Hadraawi","a,b")`, two),
		list("in nothing", "id=in.()", ""),
		list("is null", "born=is.null", `{"id":3}`),
		list("is not null", "born=is.not_null", both),
		list("not is null", "born=not.is.null", both),
		list("isdistinct", "id=isdistinct.1", `{"id":2},{"id":3}`),
		list("cs array", "tags=cs.{novel}", one),
		list("cd array", "tags=cd.{poem,novel}", two),
		list("ov array", "tags=ov.{poem,essay}", both),
		list("cs json", `meta=cs.{"home":{"city":"Delft"}}`, one),
		list("sl", "alive=sl.[2023,2024)", two),
		list("sr", "alive=sr.[1900,1944)", one),
		list("nxr", "alive=nxr.[1900,2023)", two),
		list("nxl", "alive=nxl.[1944,2000)", one),
		list("adj", "alive=adj.[2022,2030)", two),
		list("not", "id=not.in.(2,3)", one),
		list("or", "or=(id.eq.1,and(id.gt.1,name.like.H*))", both),
		list("not and", "not.and=(id.gte.1,id.lte.2)", `{"id":3}`),
		list("json path", "meta->home->>city=eq.Delft", one),
		list("json index", "meta->prizes->>0=eq.1998", one),
		list("json path of another type", "tags->>0=eq.poem", two),
		list("json last index", "meta->prizes->-1=eq.2016", one),
		list("no filter", "", all),
		{name: "fts", url: "/documents?select=id&search=fts(english).fox", want: `[{"id":1}]`},
		{name: "plfts", url: "/documents?select=id&search=plfts.quick%20fox", want: `[{"id":1}]`},
		{name: "phfts", url: "/documents?select=id&search=phfts(english).quick%20brown", want: `[{"id":1}]`},
		{name: "wfts", url: "/documents?select=id&search=wfts(english).turtle%20-fox", want: `[{"id":2}]`},
		{name: "fts of text", url: "/documents?select=id&body=fts(english).fox", want: `[{"id":1}]`},
		{name: "unknown operator", url: "/authors?id=has.1", status: 400,
			want: `{"code":"PGRST100","message":"\"failed to parse filter (has.1)\" (line 1, column 1)",
			"details":"unexpected \"h\" expecting \"not\" or operator (eq, gt, ...)","hint":null}`},
		{name: "wrong type", url: "/authors?id=eq.x", status: 400,
			want: `{"code":"22P02","message":"invalid input syntax for type integer: \"x\"","details":null,"hint":null}`},
		{name: "unknown column", url: "/authors?nope=eq.1", status: 400,
			want: `{"code":"42703","message":"column authors.nope does not exist","details":null,
			"hint":"Perhaps you meant to reference the column \"authors.name\"."}`},
		{name: "SQL in a value", url: "/authors?name=eq.'%3B drop table api.authors%3B--", want: `[]`},
		{name: "SQL in an identifier", url: `/authors?select=%22id%22%22%3B--%22`, status: 400, not: "syntax error"},
	})
}

func TestSelect(t *testing.T) {
	b := open(t, nil)
	b.run(t, []scenario{
		{name: "columns", url: "/authors?select=id,name&id=eq.1", want: `[{"id":1,"name":"Nuruddin Farah"}]`},
		{name: "star", url: "/shelves?id=eq.1", want: `[{"id":1,"label":"A"}]`},
		{name: "rename", url: "/authors?select=author:name&id=eq.2", want: `[{"author":"Hadraawi"}]`},
		{name: "cast", url: "/authors?select=id::text&id=eq.2", want: `[{"id":"2"}]`},
		{name: "json path", url: "/authors?select=meta->home->>city,prize:meta->prizes->0&id=eq.1",
			want: `[{"city":"Delft","prize":1998}]`},
		{name: "computed column", url: "/books?select=shout&id=eq.1", want: `[{"shout":"MAPS"}]`},
		{name: "filter by computed column", url: "/books?select=id&shout=eq.MAPS", want: `[{"id":1}]`},
		{name: "generated column", url: "/books?select=words&id=eq.1", want: `[{"words":4}]`},
		{name: "quoted and unicode names",
			url:  `/Odd%2C%20name?select="a%20b","q\"uote",%C3%BCn%C3%AFcode&"a%20b"=eq.1`,
			want: `[{"a b":1,"q\"uote":"x","ünïcode":"é"}]`},
		{name: "domain representation", url: "/paints?id=eq.1", want: `[{"id":1,"hue":"#0000ff"}]`},
		{name: "filter by domain representation", url: "/paints?select=id&hue=eq.%23ff0000", want: `[{"id":2}]`},
		{name: "in with domain representation", url: "/paints?select=id&hue=in.(%23ff0000,%230000ff)&order=id",
			want: `[{"id":1},{"id":2}]`},
		{name: "empty select", url: "/shelves?select=&id=eq.1", want: `[{"id":1,"label":"A"}]`},
		{name: "unknown table", url: "/author", status: 404,
			want: `{"code":"PGRST205","message":"Could not find the table 'api.author' in the schema cache",
			"details":null,"hint":"Perhaps you meant the table 'api.authors'"}`},
		{name: "hidden table", url: "/keys", status: 404,
			want: `{"code":"PGRST205","message":"Could not find the table 'api.keys' in the schema cache","details":null,"hint":null}`},
		{name: "bad path", url: "/a/b/c", status: 404,
			want: `{"code":"PGRST125","message":"Invalid path specified in request URL","details":null,"hint":null}`},
		{name: "partitioned table", url: "/loans?select=id,books(title)", want: `[{"id":1,"books":{"title":"Maps"}}]`},
		{name: "partition itself", url: "/loans_2026", status: 404},
		{name: "no privilege", url: "/secrets", status: 401, reply: "WWW-Authenticate: Bearer",
			want: `{"code":"42501","message":"permission denied for table secrets","details":null,"hint":null}`},
		{name: "no privilege, signed in", url: "/secrets", as: `{"role":"authenticated"}`, status: 403},
		{name: "row level security", url: "/notes", as: `{"role":"authenticated","sub":"amina"}`,
			want: `[{"id":1,"owner":"amina","text":"hers"}]`, not: "bile"},
		{name: "row level security, anonymous", url: "/notes", want: `[]`},
		{name: "second schema", url: "/authors", header: "Accept-Profile: archive",
			want: `[{"id":9,"name":"Archived"}]`, reply: "Content-Profile: archive"},
		{name: "hidden schema", url: "/keys", header: "Accept-Profile: hidden", status: 406,
			want: `{"code":"PGRST106","message":"Invalid schema: hidden","details":null,"hint":"Only the following schemas are exposed: api, archive"}`},
	})
}

func TestOrderAndRange(t *testing.T) {
	b := open(t, nil)
	rows := int64(2)
	limited := openOn(t, b.db, func(c *rest.Config) { c.MaxRows = &rows })
	b.run(t, []scenario{
		{name: "descending", url: "/authors?select=id&order=id.desc", want: `[{"id":3},{"id":2},{"id":1}]`},
		{name: "nulls first", url: "/authors?select=id&order=born.nullsfirst", want: `[{"id":3},{"id":2},{"id":1}]`},
		{name: "nulls last", url: "/authors?select=id&order=born.desc.nullslast,id",
			want: `[{"id":1},{"id":2},{"id":3}]`},
		{name: "by json", url: "/authors?select=id&order=meta->home->>city.desc.nullslast",
			want: `[{"id":2},{"id":1},{"id":3}]`},
		{name: "by a related table",
			url:  "/books?select=id,editor:authors!books_editor_fkey(name)&order=editor(name).desc.nullslast,id&limit=1",
			want: `[{"id":3,"editor":{"name":"Nuruddin Farah"}}]`},
		{name: "by a to-many relation", url: "/authors?select=id,books!books_author_fkey(id)&order=books(id)",
			status: 400,
			want:   `{"code":"PGRST118","message":"A related order on 'books' is not possible","details":"'authors' and 'books' do not form a many-to-one or one-to-one relationship","hint":null}`},
		{name: "limit and offset", url: "/authors?select=id&order=id&limit=1&offset=1", want: `[{"id":2}]`,
			reply: "Content-Range: 1-1/*"},
		{name: "range header", url: "/authors?select=id&order=id", header: "Range: 1-2", want: `[{"id":2},{"id":3}]`,
			reply: "Content-Range: 1-2/*"},
		{name: "range without end", url: "/authors?select=id&order=id", header: "Range: 2-", want: `[{"id":3}]`},
		{name: "limit zero", url: "/authors?limit=0", want: `[]`, reply: "Content-Range: */*"},
		{name: "negative limit", url: "/authors?limit=-1", status: 416},
		{name: "reversed range", url: "/authors", header: "Range: 3-1", status: 416},
		{name: "count exact", url: "/authors?select=id&limit=1", header: "Prefer: count=exact", status: 206,
			reply: "Content-Range: 0-0/3\nPreference-Applied: count=exact"},
		{name: "count of all", url: "/authors?select=id", header: "Prefer: count=exact", reply: "Content-Range: 0-2/3"},
		{name: "offset beyond the count", url: "/authors?offset=9", header: "Prefer: count=exact", status: 416,
			want: `{"code":"PGRST103","message":"Requested range not satisfiable","details":"An offset of 9 was requested, but there are only 3 rows.","hint":null}`},
		{name: "count planned", url: "/authors?select=id&id=eq.1", header: "Prefer: count=planned",
			reply: "Content-Range: 0-0/1"},
		{name: "head", method: "HEAD", url: "/authors", header: "Prefer: count=exact", want: "=",
			reply: "Content-Range: 0-2/3\nContent-Length:"},
		{name: "content location", url: "/shelves?select=id&label=eq.A",
			reply: "Content-Location: /shelves?label=eq.A&select=id\nVary: Accept, Prefer, Range"},
	})
	limited.run(t, []scenario{
		{name: "max rows", url: "/authors?select=id&order=id", want: `[{"id":1},{"id":2}]`},
		{name: "max rows and a larger limit", url: "/authors?select=id&limit=9&order=id", want: `[{"id":1},{"id":2}]`},
		{name: "max rows of embedded", url: "/shelves?select=placements(book_id)&id=eq.1",
			want: `[{"placements":[{"book_id":1},{"book_id":2}]}]`},
		{name: "max rows does not limit the count", url: "/authors?select=id", header: "Prefer: count=exact",
			status: 206, reply: "Content-Range: 0-1/3"},
		{name: "estimated count", url: "/authors?select=id", header: "Prefer: count=estimated", status: 206},
	})
}

func TestAggregates(t *testing.T) {
	b := open(t, nil)
	allowed := openOn(t, b.db, func(c *rest.Config) { c.Aggregates = true })
	b.run(t, []scenario{
		{name: "off by default", url: "/books?select=price.sum()", status: 400,
			want: `{"code":"PGRST123","message":"Use of aggregate functions is not allowed","details":null,"hint":null}`},
	})
	allowed.run(t, []scenario{
		{name: "all five", url: "/books?select=price.sum(),price.avg(),price.min(),price.max(),price.count()&author_id=eq.1",
			want: `[{"sum":21.50,"avg":10.7500000000000000,"min":9.00,"max":12.50,"count":2}]`},
		{name: "grouped", url: "/books?select=author_id,count()&author_id=not.is.null&order=author_id",
			want: `[{"author_id":1,"count":2},{"author_id":2,"count":1}]`},
		{name: "cast and renamed", url: "/books?select=all:price.sum()::text&author_id=eq.1",
			want: `[{"all":"21.50"}]`},
		{name: "of embedded rows", url: "/authors?select=id,books!books_author_fkey(price.sum())&id=eq.1",
			want: `[{"id":1,"books":[{"sum":21.50}]}]`},
		{name: "grouped by an embedded row",
			url:  "/books?select=editor:authors!books_editor_fkey(id),count()&editor_id=eq.1",
			want: `[{"editor":{"id":1},"count":1}]`},
		{name: "through a spread", url: "/placements?select=copies.sum(),...books(author_id)&shelf_id=eq.1",
			want: `[{"sum":4,"author_id":1}]`},
		{name: "lifted out of a spread", url: "/placements?select=shelf_id,...books(price.sum())&order=shelf_id",
			want: `[{"shelf_id":1,"sum":21.50},{"shelf_id":2,"sum":20.00}]`},
		{name: "in a to-many spread", url: "/authors?select=...books!books_author_fkey(price.sum())", status: 400,
			want: `{"code":"PGRST127","message":"Feature not implemented","details":"Aggregates are not implemented for one-to-many or many-to-many spreads.","hint":null}`},
	})
}
