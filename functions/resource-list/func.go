// Package resourcelist is the list of resources for browsers without scripts: a page with the same
// filters as /resources/, and forms that count a download and lead to its file.
//
// Only functions.All imports it.
package resourcelist

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	trackdownload "daawo/functions/track-download"
	"daawo/supabase/edge"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Func accepts requests without an API key: links and plain forms cannot send one.
var Func = edge.Func{
	Methods:     []string{http.MethodGet, http.MethodPost},
	NoVerifyJWT: true,
	Timeout:     10 * time.Second,
	MaxBody:     1 << 10,
	Handler:     handle,
}

// visitor is the role that reads the list: row level security shows it the active resources.
var visitor = edge.Caller{Role: "anon"}

func handle(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	if r.Method == http.MethodPost {
		return download(w, r, env)
	}
	text := textIn(r.URL.Query().Get("language"))
	list, err := load(r.Context(), env)
	if err != nil {
		env.Log.ErrorContext(r.Context(), "reading the resources failed", "error", err)
		return render(w, http.StatusServiceUnavailable, listPage{texts: text, Failed: true})
	}
	chosen := filter{topic: r.URL.Query().Get("topic"), language: r.URL.Query().Get("file"), fileType: r.URL.Query().Get("type")}
	return render(w, http.StatusOK, pageOf(text, list, chosen))
}

// load returns the active resources, newest first.
func load(ctx context.Context, env *edge.Env) ([]resource, error) {
	var list []resource
	err := env.Tx(ctx, visitor, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			select r.id::text, r.title, coalesce(r.title_so, '') as title_so, r.description,
			       coalesce(r.description_so, '') as description_so, r.category, coalesce(r.category_so, '') as category_so,
			       r.file_url, r.file_size, r.file_type, r.download_count,
			       coalesce(r.guide, '') as guide, coalesce(r.file_language::text, '') as file_language,
			       coalesce(g.is_featured, r.is_featured) as is_featured, coalesce(g.position, 0) as position,
			       coalesce(g.title, '') as guide_title, coalesce(g.title_so, '') as guide_title_so,
			       coalesce(g.description, '') as guide_description,
			       coalesce(g.description_so, '') as guide_description_so,
			       coalesce(g.category, '') as guide_category, coalesce(g.category_so, '') as guide_category_so,
			       g.reviewed_by, g.reviewed_role, g.reviewed_on
			  from public.resources as r left join public.guides as g on g.slug = r.guide
			 where r.is_active
			 order by r.created_at desc, r.id`)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[resource])
		return err
	})
	return list, err
}

// download counts a download and redirects to the file. A download that cannot be counted is
// served, as by the site's script (spec §8).
func download(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	ctx := r.Context()
	form, err := edge.ReadForm(r, edge.FormLimits{Fields: 1, FieldBytes: 100})
	if err != nil {
		return err
	}
	id, err := uuid.Parse(form.Values.Get("resource"))
	if err != nil {
		return errNoFile
	}
	var address string
	err = env.Tx(ctx, visitor, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `select file_url from public.resources where id = $1 and is_active`, id).Scan(&address)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errNoFile
	case err != nil:
		return err
	case !isOwn(address):
		return errNoFile
	}
	if _, err := trackdownload.Count(ctx, env, id); err != nil {
		env.Log.WarnContext(ctx, "counting a download failed", "error", err)
	}
	w.Header().Set("Location", address)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

var errNoFile = edge.Errorf(http.StatusNotFound, "resource_not_found", "There is no such file.")

// isOwn reports whether an address is a path on this site. A second slash or a backslash would
// leave it.
func isOwn(address string) bool {
	return strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//") && !strings.Contains(address, `\`)
}

// isElsewhere reports whether an address is a web address of another site.
func isElsewhere(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}
