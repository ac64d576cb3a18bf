package storage

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/engine/storage/objects"
)

// TestListingJSON compares the JSON of entries with encoding/json's.
func TestListingJSON(t *testing.T) {
	t.Parallel()
	type entry struct {
		Key        string          `json:"key,omitempty"`
		Name       string          `json:"name"`
		ID         *string         `json:"id"`
		UpdatedAt  *string         `json:"updated_at"`
		CreatedAt  *string         `json:"created_at"`
		AccessedAt *string         `json:"last_accessed_at"`
		Metadata   json.RawMessage `json:"metadata"`
	}
	texts := []string{"", "a b.txt", `q"u\o/te`, "ünï \u2028 \u2029 <&>", "\x00\n\t\x7f", "bad \xff \xed\xa0\x80 utf-8",
		"😀", `\\\"`, `ends in \`}
	documents := []string{"", "null", "{}", `{"a": "x, y: z", "b": [1, 2.50, {"c": null}], "d\\\" ": "\\"}`,
		`[" ", "\"", "\\", "\u2028 <&>"]`, `"only a text: , "`, "-1.5e300"}
	for _, s := range texts {
		quoted, err := json.Marshal(map[string]string{s + " , ": s})
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(quoted))
	}
	times := []time.Time{{}, time.Unix(0, 0),
		time.Date(2026, 2, 28, 23, 59, 59, 999_999_999, time.FixedZone("", 3*3600)),
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(12026, 1, 2, 3, 4, 5, 6e6, time.UTC),
		time.Date(-5, 1, 2, 3, 4, 5, 6e6, time.UTC)}
	at := func(i int) *time.Time {
		if i%(len(times)+1) == len(times) {
			return nil
		}
		return &times[i%(len(times)+1)]
	}
	written := func(at *time.Time) *string {
		if at == nil {
			return nil
		}
		s := at.UTC().Format("2006-01-02T15:04:05.000Z")
		return &s
	}
	var list []objects.Entry
	want := []entry{}
	for i := range 300 {
		e := objects.Entry{Key: texts[i%len(texts)], Name: texts[i/3%len(texts)], UpdatedAt: at(i),
			CreatedAt: at(i / 2), AccessedAt: at(i / 5)}
		w := entry{Key: e.Key, Name: e.Name, UpdatedAt: written(e.UpdatedAt), CreatedAt: written(e.CreatedAt),
			AccessedAt: written(e.AccessedAt)}
		if d := documents[i%len(documents)]; d != "" {
			e.Metadata, w.Metadata = json.RawMessage(d), json.RawMessage(d)
		}
		if i%2 == 0 {
			e.ID = fmt.Sprintf("00000000-0000-0000-0000-%012d", i)
			w.ID = &e.ID
		}
		list, want = append(list, e), append(want, w)
		one, err := encode(want[i:])
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendEntries(nil, list[i:])); got != string(one) {
			t.Errorf("entry %d:\n%s\nwant\n%s", i, got, one)
		}
	}
	all, err := encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(appendEntries([]byte("before"), list)); got != "before"+string(all) {
		t.Error("the list of all entries differs")
	}
	if got := string(appendEntries(nil, nil)); got != "[]" {
		t.Errorf("no entries: %s", got)
	}
}

// TestListingRuns compares the pages of both listing functions with a model of their rules: runs of
// objects of each length between folders, names that differ in case only, and every direction.
func TestListingRuns(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"p", "p/", "pa/x", "o/x", "P/upper"}
	for i, length := range []int{1, 3, 31, 32, 33, 34, 64, 70, 0, 2, 40} {
		for j := range length {
			names = append(names, fmt.Sprintf("p/%02d-%03d", i, j))
			if random.IntN(3) == 0 {
				names = append(names, fmt.Sprintf("P/%02d-%03d", i, j), fmt.Sprintf("p/%02d-%03d!", i, j))
			}
		}
		for j := range 1 + random.IntN(3) {
			names = append(names, fmt.Sprintf("p/%02dx%d/%d", i, j, random.IntN(9)),
				fmt.Sprintf("p/%02dx%d/sub/y", i, j), fmt.Sprintf("p/%02dx%d", i, j))
		}
	}
	s.db.Exec(`insert into storage.objects (bucket_id, name) select 'b', unnest($1::text[])`, names)
	for _, prefix := range []string{"", "p/", "p/0", "p/02-", "p/1", "none/"} {
		for _, order := range []string{"asc", "desc"} {
			whole := foldersOf(names, prefix, order)
			for range 40 {
				from, limit := random.IntN(len(whole)+1), 1+random.IntN(120)
				after := ""
				if from > 0 {
					after = strings.TrimPrefix(whole[from-1], "=")
				}
				got := s.names(`
					select coalesce(array_agg(case when id is null then name || '/' else '=' || name end order by n), '{}')
					  from storage.list_objects_with_delimiter('b', $1, '/', $2, $3, '', $4) with ordinality l (name, id, m, u, c, a, n)`,
					prefix, limit, after, order)
				if want := whole[from:min(from+limit, len(whole))]; !slices.Equal(got, want) {
					t.Fatalf("%q %s %d after %q:\n%q\nwant\n%q", prefix, order, limit, after, got, want)
				}
			}
		}
	}
	s.checkSearch(names, random)
}

// names returns the array that a query returns. It runs as the owner of the tables.
func (s *stack) names(sql string, args ...any) (list []string) {
	s.t.Helper()
	if err := s.options.Pool.Pgx().QueryRow(s.t.Context(), sql, args...).Scan(&list); err != nil {
		s.t.Fatal(err)
	}
	return list
}

// foldersOf returns the entries below a prefix: objects as "=name", folders as "name/".
func foldersOf(names []string, prefix, order string) []string {
	var list []string
	sorted := slices.Sorted(slices.Values(names))
	for _, name := range sorted {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		entry := "=" + name
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			entry = prefix + rest[:i+1]
		}
		if len(list) == 0 || list[len(list)-1] != entry || entry[0] == '=' {
			list = append(list, entry)
		}
	}
	if order == "desc" {
		slices.Reverse(list)
	}
	return list
}

// checkSearch checks storage.search, which ignores case. The order of names that differ in case
// only is undefined, so the names of a page are compared in lower case.
func (s *stack) checkSearch(names []string, random *rand.Rand) {
	lower := make([]string, len(names))
	for i, name := range names {
		lower[i] = strings.ToLower(name)
	}
	for _, prefix := range []string{"", "p/", "P/0", "p/02-", "p/1", "none/"} {
		for _, order := range []string{"asc", "desc"} {
			whole := foldersOf(lower, strings.ToLower(prefix), order)
			for i := range 60 {
				offset, limit := random.IntN(len(whole)+5), 1+random.IntN(120)
				if i == 0 {
					offset, limit = 0, 1000
				}
				got := s.names(`
					select coalesce(array_agg(case when id is null then lower($1 || name) || '/' else '=' || lower($1 || name) end order by n), '{}')
					  from storage.search($1, 'b', $2, 1, $3, '', 'name', $4) with ordinality l (name, id, u, c, a, m, n)`,
					prefix, limit, offset, order)
				if want := whole[min(offset, len(whole)):min(offset+limit, len(whole))]; !slices.Equal(got, want) {
					s.t.Fatalf("search %q %s %d from %d:\n%q\nwant\n%q", prefix, order, limit, offset, got, want)
				}
			}
		}
	}
}
