package admin

import (
	"context"
	"errors"
	"fmt"
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
select id::text, title, title_so, category, file_url, file_size, file_type, download_count, is_active, is_featured, created_at
  from public.resources
`

// Resources lists all resources as the page does, the hidden ones too.
func (d *Desk) Resources(ctx context.Context) ([]Resource, error) {
	var found []Resource
	err := d.tx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, selectResources+` order by created_at desc, id`)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[Resource])
		return err
	})
	return found, err
}

// editable are the columns that AddResource and EditResource set, by the flag's name.
var editable = map[string]string{
	"title": "title", "title-so": "title_so", "description": "description", "description-so": "description_so",
	"category": "category", "category-so": "category_so", "icon": "icon_name", "color": "color_class", "featured": "is_featured",
	"file-url": "file_url",
}

// Editable lists the names of the values that can be set.
func Editable() []string {
	names := make([]string, 0, len(editable))
	for name := range editable {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// AddResource adds a resource, hidden until it is published. file is a path on this machine, "" for one that is still to
// come. It returns the resource's id.
func (d *Desk) AddResource(ctx context.Context, values map[string]string, file string) (string, error) {
	var id string
	err := d.tx(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `insert into public.resources (title, category, is_active) values ($1, $2, false) returning id::text`,
			values["title"], values["category"]).Scan(&id)
	})
	if err != nil {
		return "", err
	}
	return id, d.EditResource(ctx, id, values, file)
}

// EditResource changes values of a resource, and its file when one is given.
func (d *Desk) EditResource(ctx context.Context, id string, values map[string]string, file string) error {
	set := []string{"updated_at = now()"}
	args := []any{id}
	add := func(column string, value any) {
		args = append(args, value)
		set = append(set, fmt.Sprintf("%s = nullif($%d::text, '')::%s", column, len(args), columnType(column)))
	}
	for name, value := range values {
		column, ok := editable[name]
		if !ok {
			return fmt.Errorf("a resource has no %q; it has %s", name, strings.Join(Editable(), ", "))
		}
		add(column, value)
	}
	if file != "" {
		path, size, kind, err := d.uploadFile(ctx, file)
		if err != nil {
			return err
		}
		add("file_url", path)
		add("file_size", fmt.Sprint(size))
		add("file_type", kind)
	}
	return d.changeOne(ctx, id, `update public.resources set `+strings.Join(set, ", ")+` where id::text = $1`, args...)
}

// columnType is what text of the command line becomes in a column.
func columnType(column string) string {
	switch column {
	case "is_featured":
		return "boolean"
	case "icon_name":
		return "public.resource_icon"
	case "file_size":
		return "bigint"
	}
	return "text"
}

// PublishResource shows a resource to visitors, or hides it.
func (d *Desk) PublishResource(ctx context.Context, id string, show bool) error {
	return d.changeOne(ctx, id, `update public.resources set is_active = $2 where id::text = $1`, id, show)
}

func (d *Desk) changeOne(ctx context.Context, id, q string, args ...any) error {
	return d.tx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, q, args...)
		if err == nil && tag.RowsAffected() == 0 {
			err = fmt.Errorf("resource %s: %w", id, ErrNotFound)
		}
		return err
	})
}

// fileTypes are the files that the site labels (spec §9), by extension.
var fileTypes = map[string]string{
	".pdf": "application/pdf", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif",
	".doc": "application/msword", ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".ppt": "application/vnd.ms-powerpoint", ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// uploadFile puts a file into the public bucket under its own name.
func (d *Desk) uploadFile(ctx context.Context, file string) (path string, size int64, kind string, err error) {
	name := filepath.Base(file)
	kind, ok := fileTypes[strings.ToLower(filepath.Ext(name))]
	if !ok {
		return "", 0, "", errors.New("a resource is a PDF, JPEG, PNG, GIF, DOC, DOCX, PPT or PPTX file")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", 0, "", err
	}
	object := "object/resources/" + url.PathEscape(name)
	if err := d.storage(ctx, http.MethodPut, object, kind, content, nil); err != nil {
		return "", 0, "", err
	}
	return "/storage/v1/object/public/resources/" + url.PathEscape(name), int64(len(content)), kind, nil
}
