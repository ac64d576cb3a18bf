package objects

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Entry is one row of a listing: an object, or a folder (no ID).
type Entry struct {
	Key        string // last segment of the name; set only by version 2 with a delimiter
	Name       string
	ID         string // "" for a folder
	UpdatedAt  *time.Time
	CreatedAt  *time.Time
	AccessedAt *time.Time
	Metadata   json.RawMessage
}

// entryColumns are the columns that entries reads, in entryFormats.
const entryColumns = `name, id, updated_at, created_at, last_accessed_at, metadata`

var entryFormats = []int16{0, 1, 1, 1, 1, 0}

// entries runs one statement as the caller. It selects entryColumns.
func (b *base) entries(ctx context.Context, c Caller, sql string, args ...[]byte) ([]Entry, error) {
	var list []Entry
	st := statement(sql, args...)
	st.Formats = entryFormats
	st.read = func(rows *pgconn.ResultReader) error {
		for rows.NextRow() {
			e, err := readEntry(rows.Values())
			if err != nil {
				return err
			}
			list = append(list, e)
		}
		return nil
	}
	if err := b.pipeline(ctx, c.Role, setCaller(c.readSession()), st); err != nil {
		return nil, err
	}
	return list, nil
}

// readEntry decodes entryColumns in entryFormats.
func readEntry(v [][]byte) (e Entry, err error) {
	e.Name, e.Metadata = string(v[0]), readJSON(v[5])
	if e.ID, err = readUUID(v[1]); err != nil {
		return e, err
	}
	for i, to := range []**time.Time{&e.UpdatedAt, &e.CreatedAt, &e.AccessedAt} {
		if *to, err = readTime(v[2+i]); err != nil {
			return e, err
		}
	}
	return e, nil
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
	return s.entries(ctx, c, `select `+entryColumns+` from storage.search($1, $2, $3, $4, $5, $6, $7, $8)`,
		text(p.Prefix), text(bucket), number(p.Limit), number(strings.Count(p.Prefix+p.Search, "/")+1),
		number(p.Offset), text(p.Search), text(p.Column), text(p.Order))
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
		if e.ID != "" {
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
		if last.ID == "" && p.Delimiter != "" && (p.Column == "" || p.Column == "name") {
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

func (s *Store) list(ctx context.Context, c Caller, bucket string, p List, columnAfter string, limit int) ([]Entry,
	error) {
	switch {
	case p.Delimiter == "/":
		return s.listFolder(ctx, c, bucket, p, columnAfter, limit)
	case p.Delimiter != "":
		return s.entries(ctx, c, `select `+entryColumns+` from storage.list_objects_with_delimiter($1, $2, $3, $4, $5)`,
			text(bucket), text(p.Prefix), text(p.Delimiter), number(limit), text(p.StartAfter))
	}
	order, compare := "asc", ">"
	if p.Order == "desc" {
		order, compare = "desc", "<"
	}
	// Bounds in the collation of the index. LIKE has another one and would read the whole bucket up
	// to the prefix.
	args := [][]byte{text(bucket), number(limit), text(p.Prefix)}
	where, at, sort := `bucket_id = $1 and name collate "C" >= $3 and name collate "C" < $3 || chr(1114111)`, "", ""
	if p.Column == "created_at" || p.Column == "updated_at" {
		at = "date_trunc('milliseconds', " + p.Column + ")" // the precision of the cursor
		sort = at + " " + order + ", "
	}
	switch {
	case p.StartAfter == "":
	case p.Cursor == "":
		args = append(args, text(p.StartAfter))
		where += ` and name collate "C" > $4`
	case at != "" && columnAfter != "":
		args = append(args, text(p.StartAfter), text(columnAfter))
		where += fmt.Sprintf(` and (%s, name collate "C") %s ($5::text::timestamptz, $4)`, at, compare)
	default:
		args = append(args, text(p.StartAfter))
		where += ` and name collate "C" ` + compare + ` $4`
	}
	return s.entries(ctx, c, fmt.Sprintf(`
		select `+entryColumns+`
		  from storage.objects
		 where %s
		 order by %s name collate "C" %s
		 limit $2`, where, sort, order), args...)
}

// listFolder lists one folder. The key of an entry is its segment below the prefix.
func (s *Store) listFolder(ctx context.Context, c Caller, bucket string, p List, columnAfter string,
	limit int) (list []Entry, err error) {
	order, level := p.Order, strings.Count(p.Prefix, "/")
	if order == "" {
		order = "asc"
	}
	if p.Column == "" || p.Column == "name" { // as storage.search_v2 does, which would copy each row once more
		list, err = s.entries(ctx, c, `select `+entryColumns+
			` from storage.list_objects_with_delimiter($1, $2, '/', $3, $4, '', $5)`,
			text(bucket), text(p.Prefix), number(limit), text(p.StartAfter), text(order))
	} else {
		list, err = s.entries(ctx, c, `select `+entryColumns+` from storage.search_v2($1, $2, $3, $4, $5, $6, $7, $8)`,
			text(p.Prefix), text(bucket), number(limit), number(level+1), text(p.StartAfter), text(order),
			text(p.Column), text(columnAfter))
	}
	for i := range list {
		list[i].Key = segment(list[i].Name, level)
	}
	return list, err
}

// segment returns the nth segment of a path, or "" if it has fewer.
func segment(path string, n int) string {
	for ; n > 0; n-- {
		_, path, _ = strings.Cut(path, "/")
	}
	first, _, _ := strings.Cut(path, "/")
	return first
}

// cursor is storage-api's continuation token: lines "l:<name>", "o:<order>", "c:<column>",
// "a:<value>" in base64.
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
