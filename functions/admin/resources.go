package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Resource is a downloadable resource.
type Resource struct {
	ID            string    `db:"id" json:"id"`
	Title         string    `db:"title" json:"title"`
	TitleSo       *string   `db:"title_so" json:"title_so"`
	Category      string    `db:"category" json:"category"`
	FileURL       string    `db:"file_url" json:"file_url"`
	FileSize      int64     `db:"file_size" json:"file_size"`
	FileType      string    `db:"file_type" json:"file_type"`
	DownloadCount int64     `db:"download_count" json:"download_count"`
	IsActive      bool      `db:"is_active" json:"is_active"`
	IsFeatured    bool      `db:"is_featured" json:"is_featured"`
	CreatedAt     time.Time `db:"created_at" json:"created_at"`
}

const selectResources = `
select id::text, title, title_so, category, file_url, file_size, file_type, download_count,
       is_active, is_featured, created_at
  from public.resources
`

// Resources returns all resources in the order of the page, including hidden ones.
func (c *Client) Resources(ctx context.Context) ([]Resource, error) {
	var found []Resource
	err := c.tx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, selectResources+` order by created_at desc, id`)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[Resource])
		return err
	})
	return found, err
}

// editable maps the names of flags to the columns that AddResource and EditResource can set.
var editable = map[string]string{
	"title": "title", "title-so": "title_so", "description": "description", "description-so": "description_so",
	"category": "category", "category-so": "category_so", "icon": "icon_name", "color": "color_class",
	"featured": "is_featured", "file-url": "file_url",
}

// icons are the icons that the site can draw on a card.
var icons = []string{"FileText", "Shield", "Heart", "Baby", "Smartphone", "Users", "BookOpen", "Download"}

// Editable returns the names of the values that can be set, sorted.
func Editable() []string {
	names := make([]string, 0, len(editable))
	for name := range editable {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// AddResource adds a hidden resource and returns its id. file is the path of its file on this
// machine, or "" for none yet.
func (c *Client) AddResource(ctx context.Context, values map[string]string, file string) (id string, err error) {
	err = c.store(ctx, values, file, func(tx pgx.Tx, set []assignment) error {
		columns, exprs, args := []string{"is_active"}, []string{"false"}, []any(nil)
		for _, a := range set {
			args = append(args, a.value)
			columns, exprs = append(columns, a.column), append(exprs, a.expression(len(args)))
		}
		q := fmt.Sprintf(`insert into public.resources (%s) values (%s) returning id::text`,
			strings.Join(columns, ", "), strings.Join(exprs, ", "))
		return tx.QueryRow(ctx, q, args...).Scan(&id)
	})
	return id, err
}

// EditResource changes values of a resource, and its file unless file is "".
func (c *Client) EditResource(ctx context.Context, id string, values map[string]string, file string) error {
	return c.store(ctx, values, file, func(tx pgx.Tx, set []assignment) error {
		changes, args := []string{"updated_at = now()"}, []any{id}
		for _, a := range set {
			args = append(args, a.value)
			changes = append(changes, a.column+" = "+a.expression(len(args)))
		}
		return changeOne(ctx, tx, id, `update public.resources set `+strings.Join(changes, ", ")+` where id::text = $1`,
			args...)
	})
}

// errDryRun rolls back a transaction that only tests whether it would succeed.
var errDryRun = errors.New("dry run")

// store calls write with the values and the columns of the file, in a transaction. If there is a
// file, it first runs the transaction without commit and then uploads the file, because an upload
// replaces a file of the same name that may be public. The upload is not in the transaction, so
// that downloads do not wait for it.
func (c *Client) store(ctx context.Context, values map[string]string, file string,
	write func(pgx.Tx, []assignment) error) error {
	var set []assignment
	for _, name := range slices.Sorted(maps.Keys(values)) {
		column, ok := editable[name]
		if !ok {
			return fmt.Errorf("unknown field %q; a resource has %s", name, strings.Join(Editable(), ", "))
		}
		if value := values[name]; name == "icon" && value != "" && !slices.Contains(icons, value) {
			return fmt.Errorf("unknown icon %q; use %s", value, strings.Join(icons, ", "))
		}
		set = append(set, assignment{column, values[name]})
	}
	if file != "" {
		f, err := openFile(file)
		if err != nil {
			return err
		}
		set = append(set, assignment{"file_url", "/storage/v1/object/public/resources/" + f.name},
			assignment{"file_size", fmt.Sprint(len(f.content))}, assignment{"file_type", f.kind},
			assignment{"preview_url", ""}) // the desk draws previews; an old one would show another file
		err = c.tx(ctx, func(tx pgx.Tx) error {
			if err := write(tx, set); err != nil {
				return err
			}
			return errDryRun
		})
		if !errors.Is(err, errDryRun) {
			return err
		}
		if err := c.storage(ctx, http.MethodPut, "object/resources/"+f.name, f.kind, f.content, nil); err != nil {
			return err
		}
	}
	return c.tx(ctx, func(tx pgx.Tx) error { return write(tx, set) })
}

// assignment sets a column to a text of the command line.
type assignment struct{ column, value string }

// expression returns the new value of the column as SQL, with the text as $n. Nullable columns
// become null if it is empty.
func (a assignment) expression(n int) string {
	switch a.column {
	case "description":
		return fmt.Sprintf("$%d::text", n) // not nullable, but may be empty
	case "is_featured":
		return fmt.Sprintf("nullif($%d::text, '')::boolean", n)
	case "file_size":
		return fmt.Sprintf("$%d::text::bigint", n)
	}
	return fmt.Sprintf("nullif($%d::text, '')", n)
}

// PublishResource shows a resource to visitors, or hides it.
func (c *Client) PublishResource(ctx context.Context, id string, show bool) error {
	return c.tx(ctx, func(tx pgx.Tx) error {
		return changeOne(ctx, tx, id, `update public.resources set is_active = $2 where id::text = $1`, id, show)
	})
}

// changeOne runs an update of one resource. It returns ErrNotFound if there is no such resource.
func changeOne(ctx context.Context, tx pgx.Tx, id, q string, args ...any) error {
	tag, err := tx.Exec(ctx, q, args...)
	if err == nil && tag.RowsAffected() == 0 {
		err = fmt.Errorf("resource %s: %w", id, ErrNotFound)
	}
	return err
}

// fileTypes maps extensions to the file types that the site can label (spec §9).
var fileTypes = map[string]string{
	".pdf": "application/pdf", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif",
	".doc": "application/msword", ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".ppt":  "application/vnd.ms-powerpoint",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// resourceFile is a file for the public bucket. It keeps its name there.
type resourceFile struct {
	name    string // escaped for a URL
	kind    string
	content []byte
}

// openFile reads a file of a supported type.
func openFile(file string) (resourceFile, error) {
	name := filepath.Base(file)
	kind, ok := fileTypes[strings.ToLower(filepath.Ext(name))]
	if !ok {
		return resourceFile{}, fmt.Errorf("%s: unsupported file type; use PDF, JPEG, PNG, GIF, DOC, DOCX, PPT or PPTX",
			file)
	}
	content, err := os.ReadFile(file)
	return resourceFile{url.PathEscape(name), kind, content}, err
}
