package storage

import (
	"encoding/json"
	"strings"
	"testing"
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
		if err := json.Unmarshal(s.do(key, "POST", "/object/list-v2/b", body).want(t, 200, "hasNext").body, &page); err != nil {
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
	s.do(key, "POST", "/object/list/b", map[string]any{"prefix": "a", "sortBy": map[string]any{"column": "name", "order": "desc"}}).want(t, 200, `[{"name":"2"`)
	s.do(key, "POST", "/object/list/b", map[string]any{"prefix": "", "search": "C/", "limit": 1}).want(t, 200, `[{"name":"c/d","id":null`)
	s.do(key, "POST", "/object/list-v2/b", map[string]any{"cursor": "!!"}).want(t, 400, "continuation token")
}

// TestListingByTime checks that pages sorted by time contain all objects that were created within one millisecond, the
// precision of the cursor.
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
				if err := json.Unmarshal(s.do(s.demo.ServiceRole, "POST", "/object/list-v2/b", body).want(t, 200, "hasNext").body, &page); err != nil {
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
