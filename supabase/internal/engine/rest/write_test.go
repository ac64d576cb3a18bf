package rest_test

import "testing"

func TestInsert(t *testing.T) {
	b := open(t, nil)
	full := "Prefer: return=representation"
	b.run(t, []scenario{
		{name: "object", method: "POST", url: "/shelves", body: `{"id":9,"label":"Z"}`, status: 201, want: "=",
			reply: "Content-Range: */*\nContent-Type:"},
		{name: "representation", method: "POST", url: "/shelves", header: full, body: `{"id":9,"label":"Z"}`,
			status: 201, want: `[{"id":9,"label":"Z"}]`, reply: "Preference-Applied: return=representation"},
		{name: "array", method: "POST", url: "/shelves?select=id", header: full, body: `[{"id":8},{"id":9}]`,
			status: 201, want: `[{"id":8},{"id":9}]`},
		{name: "empty array", method: "POST", url: "/shelves", header: full, body: `[]`, status: 201, want: `[]`},
		{name: "different keys", method: "POST", url: "/shelves", body: `[{"id":8},{"label":"x"}]`, status: 400,
			want: `{"code":"PGRST102","message":"All object keys must match","details":null,"hint":null}`},
		{name: "columns", method: "POST", url: "/shelves?columns=id", header: full,
			body: `[{"id":8,"label":"dropped"},{"id":9}]`, status: 201,
			want: `[{"id":8,"label":null},{"id":9,"label":null}]`},
		{name: "defaults", method: "POST", url: "/books?select=price,listed&columns=title,price,listed", header: full +
			", missing=default", body: `[{"title":"a"},{"title":"b","price":1}]`, status: 201,
			want:  `[{"price":5.00,"listed":true},{"price":1.00,"listed":true}]`,
			reply: "Preference-Applied: missing=default, return=representation"},
		{name: "identity", method: "POST", url: "/books?select=id,words", header: full, body: `{"title":"abc"}`,
			status: 201},
		{name: "generated column", method: "POST", url: "/books", body: `{"title":"a","words":3}`, status: 400},
		{name: "csv", method: "POST", url: "/shelves", header: full + "\nContent-Type: text/csv",
			body: "id,label\n8,\"x,y\"\n9,NULL\n", status: 201, want: `[{"id":8,"label":"x,y"},{"id":9,"label":null}]`},
		{name: "form", method: "POST", url: "/shelves", header: full +
			"\nContent-Type: application/x-www-form-urlencoded", body: "id=8&label=a+b", status: 201,
			want: `[{"id":8,"label":"a b"}]`},
		{name: "embedded in the reply", method: "POST", url: "/covers?select=color,books(title)", header: full,
			body: `{"book_id":2,"color":"green"}`, status: 201,
			want: `[{"color":"green","books":{"title":"Gifts"}}]`},
		{name: "location", method: "POST", url: "/placements", header: "Prefer: return=headers-only",
			body: `{"book_id":1,"shelf_id":3}`, status: 201, want: "=",
			reply: "Location: /placements?book_id=eq.1&shelf_id=eq.3"},
		{name: "selecting nothing", method: "POST", url: "/shelves?select=", header: full, body: `{"id":8}`,
			status: 201, want: `[{"id":8}]`},
		{name: "selecting nothing, without a key", method: "POST", url: "/loans?select=", header: full,
			body: `{"id":8,"day":"2026-05-01"}`, status: 201, want: `[{"?column?":1}]`},
		{name: "location without a key", method: "POST", url: "/loans?select=", header: "Prefer: return=headers-only",
			body: `{"id":8,"day":"2026-05-01"}`, status: 201, want: "=", reply: "Location:"},
		{name: "count", method: "POST", url: "/shelves", header: "Prefer: count=exact", body: `[{"id":8},{"id":9}]`,
			status: 201, reply: "Content-Range: */2"},
		{name: "unknown column", method: "POST", url: "/shelves", body: `{"id":8,"nope":1}`, status: 400,
			want: `{"code":"PGRST204","message":"Could not find the 'nope' column of 'shelves' in the schema cache","details":null,"hint":null}`},
		{name: "broken JSON", method: "POST", url: "/shelves", body: `{"id":`, status: 400,
			want: `{"code":"PGRST102","message":"Empty or invalid json","details":null,"hint":null}`},
		{name: "content type", method: "POST", url: "/shelves", header: "Content-Type: text/yaml", body: `id: 1`,
			status: 400},
		{name: "unique violation", method: "POST", url: "/shelves", body: `{"id":1}`, status: 409},
		{name: "foreign key violation", method: "POST", url: "/covers", body: `{"book_id":99}`, status: 409},
		{name: "not null", method: "POST", url: "/books", body: `{"price":1}`, status: 400},
		{name: "row level security", method: "POST", url: "/notes", as: `{"role":"authenticated","sub":"amina"}`,
			body: `{"id":5,"owner":"bile"}`, status: 403,
			want: `{"code":"42501","message":"new row violates row-level security policy for table \"notes\"","details":null,"hint":null}`},
		{name: "default from the token", method: "POST", url: "/notes?select=owner",
			as: `{"role":"authenticated","sub":"amina"}`, header: full, body: `{"id":5}`, status: 201,
			want: `[{"owner":"amina"}]`},
		{name: "domain representation", method: "POST", url: "/paints", header: full, body: `{"id":5,"hue":"#00ff00"}`,
			status: 201, want: `[{"id":5,"hue":"#00ff00"}]`},
		{name: "one object", method: "POST", url: "/shelves", header: full +
			"\nAccept: application/vnd.pgrst.object+json", body: `[{"id":8},{"id":9}]`, status: 406,
			want: `{"code":"PGRST116","message":"Cannot coerce the result to a single JSON object","details":"The result contains 2 rows","hint":null}`},
	})
	t.Run("one object rolls back", func(t *testing.T) {
		b.do(t, scenario{method: "POST", url: "/shelves",
			header: "Prefer: tx=commit\nAccept: application/vnd.pgrst.object+json", body: `[{"id":8},{"id":9}]`})
		b.run(t, []scenario{{name: "no rows", url: "/shelves?id=gte.8", want: `[]`}})
	})
}

func TestUpsert(t *testing.T) {
	b := open(t, nil)
	merge := "Prefer: resolution=merge-duplicates, return=representation"
	b.run(t, []scenario{
		{name: "merge inserts and updates", method: "POST", url: "/shelves", header: merge,
			body: `[{"id":1,"label":"new"},{"id":9,"label":"nine"}]`, status: 201,
			want:  `[{"id":1,"label":"new"},{"id":9,"label":"nine"}]`,
			reply: "Preference-Applied: resolution=merge-duplicates, return=representation"},
		{name: "merge, only updates", method: "POST", url: "/shelves", header: merge, body: `[{"id":1,"label":"new"}]`,
			status: 200},
		{name: "ignore", method: "POST", url: "/shelves",
			header: "Prefer: resolution=ignore-duplicates, return=representation",
			body:   `[{"id":1,"label":"new"},{"id":9,"label":"nine"}]`, status: 201,
			want: `[{"id":9,"label":"nine"}]`},
		{name: "on conflict", method: "POST", url: "/placements?on_conflict=book_id,shelf_id&select=copies",
			header: merge, body: `{"book_id":1,"shelf_id":1,"copies":7}`, want: `[{"copies":7}]`},
		{name: "on conflict without a constraint", method: "POST", url: "/shelves?on_conflict=label", header: merge,
			body: `{"id":1,"label":"A"}`, status: 400},
		{name: "put creates", method: "PUT", url: "/shelves?id=eq.9", header: "Prefer: return=representation",
			body: `{"id":9,"label":"nine"}`, status: 201, want: `[{"id":9,"label":"nine"}]`},
		{name: "put replaces", method: "PUT", url: "/shelves?id=eq.1", header: "Prefer: return=representation",
			body: `{"id":1,"label":"one"}`, want: `[{"id":1,"label":"one"}]`},
		{name: "put without representation", method: "PUT", url: "/shelves?id=eq.1", body: `{"id":1,"label":"one"}`,
			status: 204, want: "="},
		{name: "put with another key", method: "PUT", url: "/shelves?id=eq.1", body: `{"id":2,"label":"one"}`,
			status: 400,
			want:   `{"code":"PGRST115","message":"Payload values do not match URL in primary key column(s)","details":null,"hint":null}`},
		{name: "put by another column", method: "PUT", url: "/shelves?label=eq.A", body: `{"id":1,"label":"A"}`,
			status: 405,
			want:   `{"code":"PGRST105","message":"Filters must include all and only primary key columns with 'eq' operators","details":null,"hint":null}`},
		{name: "put with a limit", method: "PUT", url: "/shelves?id=eq.1&limit=1", body: `{"id":1}`, status: 400},
	})
}

func TestUpdateAndDelete(t *testing.T) {
	b := open(t, nil)
	full := "Prefer: return=representation"
	b.run(t, []scenario{
		{name: "update", method: "PATCH", url: "/shelves?id=eq.1", body: `{"label":"x"}`, status: 204, want: "=",
			reply: "Content-Range: 0-0/*\nContent-Type:"},
		{name: "update with representation", method: "PATCH", url: "/shelves?id=eq.1", header: full,
			body: `{"label":"x"}`, want: `[{"id":1,"label":"x"}]`},
		{name: "update of no rows", method: "PATCH", url: "/shelves?id=eq.77", header: full, body: `{"label":"x"}`,
			want: `[]`, reply: "Content-Range: */*"},
		{name: "update without columns", method: "PATCH", url: "/shelves?id=eq.1", header: full, body: `{}`,
			want: `[]`},
		{name: "update counted", method: "PATCH", url: "/shelves?id=lte.2", header: "Prefer: count=exact",
			body: `{"label":"x"}`, status: 204, reply: "Content-Range: 0-1/2"},
		{name: "update by or", method: "PATCH", url: "/shelves?or=(id.eq.1,id.eq.2)&select=id", header: full,
			body: `{"label":"x"}`, want: `[{"id":1},{"id":2}]`},
		{name: "update to default", method: "PATCH", url: "/books?id=eq.1&select=price&columns=price", header: full +
			", missing=default", body: `{}`, want: `[{"price":5.00}]`},
		{name: "update through a view", method: "PATCH", url: "/priced?id=eq.1", header: full, body: `{"price":3}`,
			want: `[{"id":1,"price":3.00}]`},
		{name: "update through a trigger", method: "PATCH", url: "/repriced?id=eq.1", header: full, body: `{"price":3}`,
			want: `[{"id":1,"price":3.00}]`},
		{name: "update and embed", method: "PATCH",
			url: "/books?id=eq.1&select=title,author:authors!books_author_fkey(name)", header: full,
			body: `{"title":"Links"}`,
			want: `[{"title":"Links","author":{"name":"Nuruddin Farah"}}]`},
		{name: "update of one object", method: "PATCH", url: "/shelves?id=lte.2", header: full +
			"\nAccept: application/vnd.pgrst.object+json", body: `{"label":"x"}`, status: 406},
		{name: "row level security", method: "PATCH", url: "/notes", as: `{"role":"authenticated","sub":"amina"}`,
			header: full, body: `{"text":"x"}`,
			want: `[{"id":1,"owner":"amina","text":"x"}]`, not: "bile"},
		{name: "max affected", method: "PATCH", url: "/shelves", header: "Prefer: handling=strict, max-affected=1",
			body: `{"label":"x"}`, status: 400,
			want: `{"code":"PGRST124","message":"Query result exceeds max-affected preference constraint","details":"The query affects 3 rows","hint":null}`},
		{name: "max affected, not exceeded", method: "PATCH", url: "/shelves?id=eq.1",
			header: "Prefer: handling=strict, max-affected=1", body: `{"label":"x"}`, status: 204,
			reply: "Preference-Applied: handling=strict, max-affected=1"},
		{name: "delete", method: "DELETE", url: "/placements?book_id=eq.1", status: 204, want: "=",
			reply: "Content-Range: */*"},
		{name: "delete with representation", method: "DELETE", url: "/placements?book_id=eq.1&select=copies",
			header: full, want: `[{"copies":3}]`},
		{name: "delete counted", method: "DELETE", url: "/placements", header: "Prefer: count=exact", status: 204,
			reply: "Content-Range: */3"},
		{name: "delete with max affected", method: "DELETE", url: "/placements",
			header: "Prefer: handling=strict, max-affected=2", status: 400,
			want: `{"code":"PGRST124","message":"Query result exceeds max-affected preference constraint","details":"The query affects 3 rows","hint":null}`},
		{name: "delete selecting nothing, without a key", method: "DELETE", url: "/loans?select=&id=eq.1", header: full,
			want: `[{"?column?":1}]`},
		{name: "delete and embed", method: "DELETE", url: "/placements?book_id=eq.1&select=books(title)", header: full,
			want: `[{"books":{"title":"Maps"}}]`},
	})
}

func TestTransactionEnd(t *testing.T) {
	b := open(t, nil)
	b.run(t, []scenario{
		{name: "rolled back as configured", method: "POST", url: "/shelves", body: `{"id":50}`, status: 201},
		{name: "row is not stored", url: "/shelves?id=eq.50", want: `[]`},
		{name: "committed on request", method: "POST", url: "/shelves", header: "Prefer: tx=commit", body: `{"id":50}`,
			status: 201, reply: "Preference-Applied: tx=commit"},
		{name: "row is stored", url: "/shelves?select=id&id=eq.50", want: `[{"id":50}]`},
	})
}
