package meta

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"daawo/supabase/internal/database/catalog"
)

// publicationBody is the body of a request that makes or changes a publication.
type publicationBody struct {
	Name     *string         `json:"name"`
	Owner    *string         `json:"owner"`
	Insert   *bool           `json:"publish_insert"`
	Update   *bool           `json:"publish_update"`
	Delete   *bool           `json:"publish_delete"`
	Truncate *bool           `json:"publish_truncate"`
	Tables   json.RawMessage `json:"tables"` // null publishes all tables
}

// publish returns the operations to publish, as a literal.
func (b publicationBody) publish(old publicationState) string {
	var list []string
	for _, op := range []struct {
		wanted *bool
		old    bool
		name   string
	}{{b.Insert, old.Insert, "insert"}, {b.Update, old.Update, "update"}, {b.Delete, old.Delete, "delete"},
		{b.Truncate, old.Truncate, "truncate"}} {
		if or(op.wanted, op.old) {
			list = append(list, op.name)
		}
	}
	return literal(strings.Join(list, ", "))
}

// tables returns the quoted tables; all is true for all tables.
func (b publicationBody) tables() (list string, all bool, err error) {
	if len(b.Tables) == 0 || string(b.Tables) == "null" {
		return "", true, nil
	}
	var names []string
	if err := json.Unmarshal(b.Tables, &names); err != nil {
		return "", false, badRequest("body/tables must be array")
	}
	for i, name := range names {
		if schema, table, ok := strings.Cut(name, "."); ok {
			names[i] = ident(schema, table)
		} else {
			names[i] = ident(name)
		}
	}
	return strings.Join(names, ", "), false, nil
}

// publicationState is a publication as it was before a change.
type publicationState struct {
	Name     string `json:"name"`
	Owner    string `json:"owner"`
	Insert   bool   `json:"publish_insert"`
	Update   bool   `json:"publish_update"`
	Delete   bool   `json:"publish_delete"`
	Truncate bool   `json:"publish_truncate"`
	Tables   *[]struct {
		Name   string `json:"name"`
		Schema string `json:"schema"`
	} `json:"tables"`
}

func createPublication(c *change) (json.RawMessage, error) {
	var body publicationBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	list, all, err := body.tables()
	switch {
	case err != nil:
		return nil, err
	case all:
		list = "for all tables"
	case list != "":
		list = "for table " + list
	}
	name := or(body.Name, "")
	if err := c.exec("create publication", ident(name), list, "with (publish =", body.publish(publicationState{}),
		")"); err != nil {
		return nil, err
	}
	return c.named(publication, catalog.Filter{Name: name})
}

func updatePublication(c *change) (json.RawMessage, error) {
	var body publicationBody
	var old publicationState
	if _, err := c.target(publication, &old); err != nil {
		return nil, err
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	alter := "alter publication " + ident(old.Name)
	owner, name := or(body.Owner, old.Owner), or(body.Name, old.Name)
	made := false
	if err := inOrder(
		func() (err error) { made, err = setTables(c, alter, old, body); return err },
		func() error { return c.exec(alter, "set (publish =", body.publish(old), ")") },
		func() error { return c.execIf(made || owner != old.Owner, alter, "owner to", ident(owner)) },
		func() error { return c.execIf(name != old.Name, alter, "rename to", ident(name)) },
	); err != nil {
		return nil, err
	}
	return c.named(publication, catalog.Filter{Name: name})
}

// setTables sets the tables of a publication. made reports that it had to be made again: Postgres
// does not change a publication of all tables into one of some, or back.
func setTables(c *change, alter string, old publicationState, body publicationBody) (made bool, err error) {
	if len(body.Tables) == 0 {
		return false, nil
	}
	list, all, err := body.tables()
	if err != nil {
		return false, err
	}
	if wasAll := old.Tables == nil; wasAll != all {
		made = true
		root, _, err := c.value("select pubviaroot::text from pg_publication where pubname = $1", old.Name)
		if err != nil {
			return false, err
		}
		some := ""
		if all {
			some = "for all tables"
		}
		if err := inOrder(
			func() error { return c.exec("drop publication", ident(old.Name)) },
			func() error {
				return c.exec("create publication", ident(old.Name), some,
					"with (publish_via_partition_root =", root, ")")
			},
		); err != nil {
			return false, err
		}
	}
	switch {
	case all:
		return made, nil
	case list != "":
		return made, c.exec(alter, "set table", list)
	case made || len(*old.Tables) == 0:
		return made, nil
	}
	names := make([]string, len(*old.Tables))
	for i, t := range *old.Tables {
		names[i] = ident(t.Schema, t.Name)
	}
	return made, c.exec(alter, "drop table", strings.Join(names, ", "))
}

func dropPublication(c *change, old publicationState) error {
	return c.exec("drop publication", ident(old.Name))
}

// pathName returns the name in the path of a request. The router does not decode a path with
// characters that need no encoding.
func pathName(r *http.Request) string {
	name := chi.URLParam(r, "name")
	if decoded, err := url.PathUnescape(name); err == nil && r.URL.RawPath != "" {
		return decoded
	}
	return name
}

func createExtension(c *change) (json.RawMessage, error) {
	var body struct {
		Name    string  `json:"name"`
		Schema  *string `json:"schema"`
		Version *string `json:"version"`
		Cascade bool    `json:"cascade"`
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	parts := []string{"create extension", ident(body.Name)}
	if body.Schema != nil {
		parts = append(parts, "schema", ident(*body.Schema))
	}
	if body.Version != nil {
		parts = append(parts, "version", ident(*body.Version))
	}
	if body.Cascade {
		parts = append(parts, "cascade")
	}
	if err := c.exec(parts...); err != nil {
		return nil, err
	}
	return c.named(extensions, catalog.Filter{Name: body.Name})
}

func updateExtension(c *change) (json.RawMessage, error) {
	var body struct {
		Update  bool    `json:"update"`
		Version *string `json:"version"`
		Schema  *string `json:"schema"`
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	name := pathName(c.r)
	alter, to := "alter extension "+ident(name), ""
	if body.Version != nil {
		to = "to " + ident(*body.Version)
	}
	if err := inOrder(
		func() error { return c.execIf(body.Update, alter, "update", to) },
		func() error { return c.execIf(body.Schema != nil, alter, "set schema", ident(or(body.Schema, ""))) },
	); err != nil {
		return nil, err
	}
	return c.named(extensions, catalog.Filter{Name: name})
}

func removeExtension(c *change) (json.RawMessage, error) {
	name := pathName(c.r)
	object, err := c.named(extensions, catalog.Filter{Name: name})
	if err != nil {
		return nil, err
	}
	return object, c.drop("extension", ident(name))
}
