package storage

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// TestListing pages through folders and objects with both listing APIs.
func TestListing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	for _, name := range []string{"a", "a/1", "a/2", "a-b", "B/x", "c/d/e"} {
		s.do(key, "POST", "/object/b/"+name, "x").want(t, 200, "Key")
	}
	var all []string
	cursor := ""
	for range 20 {
		body := map[string]any{"prefix": "", "limit": 1, "with_delimiter": true}
		if cursor != "" {
			body["cursor"] = cursor
		}
		var page struct {
			HasNext          bool
			NextCursor       string
			Folders, Objects []struct{ Name string }
		}
		if err := json.Unmarshal(s.do(key, "POST", "/object/list-v2/b", body).want(t, 200, "hasNext").body,
			&page); err != nil {
			t.Fatal(err)
		}
		for _, e := range append(page.Folders, page.Objects...) {
			all = append(all, e.Name)
		}
		if cursor = page.NextCursor; !page.HasNext {
			break
		}
	}
	if got := strings.Join(all, " "); got != "B/ a a-b a/ c/" {
		t.Errorf("paged: %q", got)
	}
	s.do(key, "POST", "/object/list/b", map[string]any{"prefix": "a",
		"sortBy": map[string]any{"column": "name", "order": "desc"}}).want(t, 200, `[{"name":"2"`)
	s.do(key, "POST", "/object/list/b", map[string]any{"prefix": "", "search": "C/", "limit": 1}).want(t, 200,
		`[{"name":"c/d","id":null`)
	s.do(key, "POST", "/object/list-v2/b", map[string]any{"cursor": "!!"}).want(t, 400, "continuation token")
}

// TestListingByTime checks that pages sorted by time contain all objects that were created within
// one millisecond, the precision of the cursor.
func TestListingByTime(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	s.db.Exec(`
		insert into storage.objects (bucket_id, name, created_at, updated_at)
		select 'b', name, at, at from (values ('b', timestamptz '2026-03-01 12:00:00.0001Z'), ('a', '2026-03-01 12:00:00.0002Z'),
		  ('d', '2026-03-01 12:00:00.0003Z'), ('c', '2026-03-01 12:00:00.0011Z')) v (name, at)`)
	for _, column := range []string{"created_at", "updated_at"} {
		for order, want := range map[string]string{"asc": "a b d c", "desc": "c d b a"} {
			var all []string
			body := map[string]any{"limit": 1, "sortBy": map[string]any{"column": column, "order": order}}
			for range 10 {
				var page struct {
					HasNext    bool
					NextCursor string
					Objects    []struct{ Name string }
				}
				if err := json.Unmarshal(s.do(s.demo.ServiceRole, "POST", "/object/list-v2/b", body).want(t, 200,
					"hasNext").body, &page); err != nil {
					t.Fatal(err)
				}
				for _, o := range page.Objects {
					all = append(all, o.Name)
				}
				if body["cursor"] = page.NextCursor; !page.HasNext {
					break
				}
			}
			if got := strings.Join(all, " "); got != want {
				t.Errorf("%s %s: %q, not %q", column, order, got, want)
			}
		}
	}
}

// TestListingAtDepth checks that pages at any offset are parts of the whole list, in folders and
// among names that differ in case only. Objects are skipped in blocks from 64 on.
func TestListingAtDepth(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	s.db.Exec(`
		insert into storage.objects (bucket_id, name)
		select 'b', 'p/' || name from (
		  select 'file' || lpad(i::text, 4, '0') from generate_series(1, 400) i
		  union all select 'file' || lpad(i::text, 4, '0') || 'x/' || j from generate_series(150, 300, 30) i, generate_series(1, 3) j
		  union all select 'folder' || i || '/x' from generate_series(1, 90) i
		  union all select string_agg(case when (i >> bit) & 1 = 1 then chr(97 + bit) else chr(65 + bit) end, '')
		    from generate_series(0, 127) i, generate_series(0, 6) bit group by i) v (name)
		union all select 'b', 'q/after'`)
	for _, order := range []string{"asc", "desc"} {
		page := func(limit, offset int) (names []string) {
			var entries []struct{ Name string }
			body := map[string]any{"prefix": "p", "limit": limit, "offset": offset,
				"sortBy": map[string]any{"column": "name", "order": order}}
			if err := json.Unmarshal(s.do(s.demo.ServiceRole, "POST", "/object/list/b", body).want(t, 200, "[").body,
				&entries); err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				names = append(names, e.Name)
			}
			return names
		}
		whole := page(1000, 0)
		if len(whole) != 400+6+90+128 {
			t.Fatalf("%s: %d entries", order, len(whole))
		}
		for offset := 0; offset < len(whole)+100; offset += 19 {
			want := whole[min(offset, len(whole)):min(offset+10, len(whole))]
			if got := page(10, offset); !slices.Equal(got, want) {
				t.Errorf("%s from %d: %q, want %q", order, offset, got, want)
			}
		}
	}
}

// TestListingManyEntries checks pages of list-v2 that have more entries than one read of the table.
func TestListingManyEntries(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	s.db.Exec(`
		insert into storage.objects (bucket_id, name)
		select 'b', 'o' || lpad(i::text, 5, '0') from generate_series(1, 3200) i union all select 'b', 'o01600f/x'`)
	for order, want := range map[string]string{"asc": "o00001 o01600 o01600f o03200",
		"desc": "o03200 o01600f o01600 o00001"} {
		got := testdb.Value[string](s.db, `
			select string_agg(name, ' ' order by n) filter (where n = 1 or name like 'o01600%' or n = total)
			  from (select l.name, row_number() over () as n, count(*) over () as total
			          from storage.list_objects_with_delimiter('b', '', '/', 5000, '', '', '`+order+`') l) v
			 where total = 3201`)
		if got != want {
			t.Errorf("%s: %s", order, got)
		}
	}
}
