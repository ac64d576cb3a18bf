package rest_test

import (
	"testing"

	"daawo/supabase/internal/engine/rest"
)

// TestOddRequests checks replies to rare forms of requests, found by comparison with PostgREST.
func TestOddRequests(t *testing.T) {
	b := open(t, nil)
	b.db.Exec(`create function api.lists() returns setof int[] language sql stable as $$ values ('{1,2}'::int[]), ('{}') $$;
		create domain api.list as int[];
		create function api.own_lists() returns setof api.list language sql stable as $$ values ('{1}'::int[]), ('{2}') $$;
		create function api.no_author() returns api.authors language sql stable as $$ select * from api.authors where false $$`)
	b = openOn(t, b.db, nil)
	b.run(t, []scenario{
		{name: "nothing but an empty embed", url: "/books?select=covers()&id=lte.2", want: "=[{}, \n {}]"},
		{name: "nothing, as one object", url: "/books?select=covers()&id=eq.1",
			header: "Accept: application/vnd.pgrst.object+json", want: "={}"},
		{name: "nothing, as CSV", url: "/books?select=covers()&id=lte.2", header: "Accept: text/csv", want: "=\n\n"},
		{name: "nothing, in pages", url: "/books?select=covers()&limit=2", header: "Prefer: count=exact",
			status: 206, want: "=[{}, \n {}]", reply: "Content-Range: 0-1/4"},
		{name: "nothing of a mutation", method: "PATCH", url: "/books?select=covers()&id=eq.1", body: `{"price":1}`,
			as: `{"role":"authenticated"}`, header: "Prefer: return=representation", want: "=[{}]"},
		{name: "nothing of a call", url: "/rpc/by_author?author=2&select=covers()", want: "=[{}]"},
		{name: "a spread column with the name of the root", url: "/authors?id=eq.1" +
			"&select=...books!books_author_fkey(authors:id),debut(title)",
			want: `[{"authors":[1,2],"debut":{"title":"Maps"}}]`},
		{name: "negative limit of embedded rows", url: "/authors?select=id,books!books_author_fkey(id)&books.limit=-1",
			status: 400, want: `{"code":"2201W","message":"LIMIT must not be negative","details":null,"hint":null}`},
		{name: "no embedded rows", url: "/authors?select=id,books!books_author_fkey(id)&books.limit=0&id=eq.1",
			want: `[{"id":1,"books":[]}]`},
		{name: "no embedded rows after an offset",
			url:  "/authors?select=id,books!books_author_fkey(id)&books.limit=0&books.offset=1&id=eq.1",
			want: `[{"id":1,"books":[]}]`},
		{name: "set of values", url: "/rpc/names", want: `=["Nuruddin Farah", "Hadraawi", "Ubah Cristina"]`},
		{name: "set of arrays", url: "/rpc/lists", want: "=[[1,2], \n []]"},
		{name: "set of a domain of arrays", url: "/rpc/own_lists", want: "=[[1], \n [2]]"},
		{name: "stripped rows", url: "/shelves?select=id&order=id",
			header: "Accept: application/vnd.pgrst.array+json;nulls=stripped", want: `=[{"id":1},{"id":2},{"id":3}]`},
		{name: "two orders", url: "/shelves?select=id&order=id.desc&order=label", want: `[{"id":3},{"id":2},{"id":1}]`},
		{name: "no row of a function", method: "HEAD", url: "/rpc/no_author?id=eq.1", header: "Prefer: count=exact",
			reply: "Content-Range: 0-0/1"},
		{name: "the same by GET", url: "/rpc/no_author?id=eq.1", header: "Prefer: count=exact", want: "null",
			reply: "Content-Range: 0-0/1"},
	})
}

// TestCSVBody checks that CSV is stored as it was sent, or refused.
func TestCSVBody(t *testing.T) {
	b := open(t, nil)
	send := func(name, body, want string) scenario {
		return scenario{name: name, method: "POST", url: "/shelves?select=label", as: `{"role":"authenticated"}`,
			header: "Content-Type: text/csv\nPrefer: return=representation", body: body, status: 201, want: want}
	}
	refused := func(name, body, has string) scenario {
		s := send(name, body, "")
		s.status, s.has = 400, has
		return s
	}
	b.run(t, []scenario{
		send("line break in a field", "id,label\n7,\"a\r\nb\"\n", `[{"label":"a\r\nb"}]`),
		send("quotes", "id,\"label\"\n7,\"a\"\"b\"", `[{"label":"a\"b"}]`),
		send("CR LF", "id,label\r\n7,a\r\n\r\n8,\r\n", `[{"label":"a"},{"label":""}]`),
		send("CR", "id,label\r7,a\r", `[{"label":"a"}]`),
		send("empty last field", "id,label\n7,", `[{"label":""}]`),
		send("NULL", "id,label\n7,NULL\n", `[{"label":null}]`),
		send("no rows", "id,label\n", `[]`),
		refused("nothing", "\n\n", "not enough input"),
		refused("unfinished header", "id,label", "not enough input"),
		refused("not UTF-8", "id,label\n7,a\xffb\n", "not UTF-8"),
		refused("text after quotes", "id,label\n7,\"a\"b\n", "line 2"),
		refused("quote in a field", "id,label\n7,a\"b\n", "line 2"),
		refused("open quote", "id,label\n7,\"a\n", "line 2"),
		refused("short line", "id,label\n7\n", "All lines must have same number of fields"),
	})
}

// TestEstimatedCountOfCall checks that the number of rows of a call is not limited by db-max-rows:
// there is no estimate of it.
func TestEstimatedCountOfCall(t *testing.T) {
	b := open(t, func(c *rest.Config) { c.MaxRows = new(int64(1)) })
	b.run(t, []scenario{
		{name: "all rows", url: "/rpc/grid?select=n", header: "Prefer: count=estimated", status: 206,
			want: `[{"n":1}]`, reply: "Content-Range: 0-0/3"},
	})
}
