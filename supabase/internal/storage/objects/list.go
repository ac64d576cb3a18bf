package objects

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Entry is one row of a listing: an object, or a folder (no ID).
type Entry struct {
	Key        string // last segment of the name; set only by version 2 with a delimiter
	Name       string
	ID         *string
	UpdatedAt  *time.Time
	CreatedAt  *time.Time
	AccessedAt *time.Time
	Metadata   json.RawMessage
}

func scanEntry(r pgx.CollectableRow) (e Entry, err error) {
	return e, r.Scan(&e.Name, &e.ID, &e.UpdatedAt, &e.CreatedAt, &e.AccessedAt, &e.Metadata)
}

func scanKeyedEntry(r pgx.CollectableRow) (e Entry, err error) {
	return e, r.Scan(&e.Key, &e.Name, &e.ID, &e.UpdatedAt, &e.CreatedAt, &e.AccessedAt, &e.Metadata)
}

// Search is a request of the first listing API: one folder, paged by offset, case-insensitive.
type Search struct {
	Prefix        string
	Search        string
	Limit, Offset int
	Column, Order string
}

// Search lists the objects that the caller may see. Names are relative to the prefix.
func (s *Store) Search(ctx context.Context, c Caller, bucket string, p Search) ([]Entry, error) {
	if p.Prefix != "" && !strings.HasSuffix(p.Prefix, "/") {
		p.Prefix += "/"
	}
	if p.Limit == 0 {
		p.Limit = 100
	}
	if p.Column == "" {
		p.Column = "name"
	}
	if p.Order == "" {
		p.Order = "asc"
	}
	if p.Column != "name" { // storage.search then takes LIKE patterns
		p.Prefix, p.Search = escapeLike(p.Prefix), escapeLike(p.Search)
	}
	return rows(ctx, s.base, c, scanEntry, `
		select name, id::text, updated_at, created_at, last_accessed_at, metadata
		  from storage.search($1, $2, $3, $4, $5, $6, $7, $8)`,
		p.Prefix, bucket, p.Limit, strings.Count(p.Prefix+p.Search, "/")+1, p.Offset, p.Search, p.Column, p.Order)
}

// List is a request of the second listing API, paged by cursor, which S3 uses too.
type List struct {
	Prefix     string
	Delimiter  string
	Cursor     string // Next of an earlier page
	StartAfter string
	Limit      int // 0 or more than 1,000 means 1,000
	Column     string
	Order      string
}

// Page is one page of List.
type Page struct {
	Folders []Entry // names end in the delimiter
	Objects []Entry
	More    bool
	Next    string // cursor of the next page
	NextKey string // last name of this page
}

// List lists the objects that the caller may see.
func (s *Store) List(ctx context.Context, c Caller, bucket string, p List) (*Page, error) {
	limit := p.Limit
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	var after string
	if p.Cursor != "" {
		t, err := decodeCursor(p.Cursor)
		if err != nil {
			return nil, err
		}
		p.StartAfter, p.Order, after = t.after, t.order, t.columnAfter
		if t.column != "" {
			p.Column = t.column
		}
	}
	entries, err := s.list(ctx, c, bucket, p, after, limit+1)
	if err != nil {
		return nil, err
	}
	page := &Page{More: len(entries) > limit}
	if page.More {
		entries = entries[:limit]
	}
	for _, e := range entries {
		if e.ID != nil {
			page.Objects = append(page.Objects, e)
			continue
		}
		if !strings.HasSuffix(e.Name, "/") {
			e.Name += p.Delimiter
		}
		page.Folders = append(page.Folders, e)
	}
	if page.More {
		last := entries[len(entries)-1]
		t := cursor{after: last.Name, order: p.Order, column: p.Column}
		if last.ID == nil && p.Delimiter != "" && (p.Column == "" || p.Column == "name") {
			t.after += p.Delimiter // distinguishes the folder from an object with the same name
		}
		var at *time.Time
		switch p.Column {
		case "created_at":
			at = last.CreatedAt
		case "updated_at":
			at = last.UpdatedAt
		}
		if at != nil {
			t.columnAfter = Timestamp(*at)
		}
		page.Next, page.NextKey = t.encode(), last.Name
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, c Caller, bucket string, p List, columnAfter string, limit int) ([]Entry, error) {
	switch {
	case p.Delimiter == "/":
		order, column := p.Order, p.Column
		if order == "" {
			order = "asc"
		}
		if column == "" {
			column = "name"
		}
		return rows(ctx, s.base, c, scanKeyedEntry, `
			select key, name, id::text, updated_at, created_at, last_accessed_at, metadata
			  from storage.search_v2($1, $2, $3, $4, $5, $6, $7, $8)`,
			p.Prefix, bucket, limit, strings.Count(p.Prefix, "/")+1, p.StartAfter, order, column, columnAfter)
	case p.Delimiter != "":
		return rows(ctx, s.base, c, scanEntry, `
			select name, id::text, updated_at, created_at, last_accessed_at, metadata
			  from storage.list_objects_with_delimiter($1, $2, $3, $4, $5)`,
			bucket, p.Prefix, p.Delimiter, limit, p.StartAfter)
	}
	order, compare := "asc", ">"
	if p.Order == "desc" {
		order, compare = "desc", "<"
	}
	// Bounds in the collation of the index. LIKE has another one and would read the whole bucket up to the prefix.
	args := []any{bucket, limit, p.Prefix}
	where, at, sort := `bucket_id = $1 and name collate "C" >= $3 and name collate "C" < $3 || chr(1114111)`, "", ""
	if p.Column == "created_at" || p.Column == "updated_at" {
		at = "date_trunc('milliseconds', " + p.Column + ")" // the precision of the cursor
		sort = at + " " + order + ", "
	}
	switch {
	case p.StartAfter == "":
	case p.Cursor == "":
		args = append(args, p.StartAfter)
		where += ` and name collate "C" > $4`
	case at != "" && columnAfter != "":
		args = append(args, p.StartAfter, columnAfter)
		where += fmt.Sprintf(` and (%s, name collate "C") %s ($5::text::timestamptz, $4)`, at, compare)
	default:
		args = append(args, p.StartAfter)
		where += ` and name collate "C" ` + compare + ` $4`
	}
	return rows(ctx, s.base, c, scanEntry, fmt.Sprintf(`
		select name, id::text, updated_at, created_at, last_accessed_at, metadata
		  from storage.objects
		 where %s
		 order by %s name collate "C" %s
		 limit $2`, where, sort, order), args...)
}

// cursor is storage-api's continuation token: lines "l:<name>", "o:<order>", "c:<column>", "a:<value>" in base64.
type cursor struct{ after, order, column, columnAfter string }

func (t cursor) encode() string {
	var lines []string
	for _, part := range [][2]string{{"l", t.after}, {"o", t.order}, {"c", t.column}, {"a", t.columnAfter}} {
		if part[1] != "" {
			lines = append(lines, part[0]+":"+part[1])
		}
	}
	return base64.StdEncoding.EncodeToString([]byte(strings.Join(lines, "\n")))
}

func decodeCursor(s string) (cursor, error) {
	t := cursor{order: "asc"}
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return t, ErrInvalidParameter("continuation token")
	}
	for _, line := range strings.Split(string(raw), "\n") {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "l":
			t.after = value
		case "o":
			t.order = value
		case "c":
			t.column = value
		case "a":
			t.columnAfter = value
		default:
			return t, ErrInvalidParameter("continuation token")
		}
	}
	switch {
	case t.order != "asc" && t.order != "desc",
		t.column != "" && t.column != "name" && t.column != "created_at" && t.column != "updated_at":
		return t, ErrInvalidParameter("continuation token")
	}
	if t.columnAfter != "" {
		if _, err := time.Parse(time.RFC3339, t.columnAfter); err != nil {
			return t, ErrInvalidParameter("continuation token")
		}
	}
	return t, nil
}
