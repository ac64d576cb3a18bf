package meta

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"daawo/supabase/internal/database/catalog"
	"daawo/supabase/internal/database/pool"
)

// kind is a kind of object: how it is listed and named.
type kind struct {
	path    string
	article string // with the noun, for messages
	id      string // pattern of the IDs; "" if there is no single form
	list    func(catalog.Filter) pool.Statement
	options []string // query parameters besides limit and offset
	columns bool     // the list has columns unless include_columns is false
}

// Query parameters of lists.
const (
	included      = "included_schemas"
	excluded      = "excluded_schemas"
	systemSchemas = "include_system_schemas"
	defaultRoles  = "include_default_roles"
	withColumns   = "include_columns"
	arrayTypes    = "include_array_types"
)

var bySchema = []string{included, excluded, systemSchemas}

// The kinds of objects.
var (
	schemas     = kind{"/schemas", "a schema", `\d+`, catalog.Schemas, []string{systemSchemas}, false}
	tables      = kind{"/tables", "a table", `\d+`, catalog.Tables, append(bySchema, withColumns), true}
	columns     = kind{"/columns", "a column", `\d+\.\d+`, catalog.Columns, bySchema, false}
	views       = kind{"/views", "a view", `\d+`, catalog.Views, append(bySchema, withColumns), true}
	matviews    = kind{"/materialized-views", "a materialized view", `\d+`, catalog.MaterializedViews, []string{included, excluded, withColumns}, false}
	foreign     = kind{"/foreign-tables", "a foreign table", `\d+`, catalog.ForeignTables, []string{withColumns}, true}
	indexes     = kind{"/indexes", "a index", `\d+`, catalog.Indexes, bySchema, false}
	functions   = kind{"/functions", "a function", `\d+`, catalog.Functions, bySchema, false}
	triggers    = kind{"/triggers", "a trigger", `\d+`, catalog.Triggers, bySchema, false}
	types       = kind{"/types", "a type", "", catalog.Types, append(bySchema, arrayTypes), false}
	roles       = kind{"/roles", "a role", `\d+`, catalog.Roles, []string{defaultRoles}, false}
	policies    = kind{"/policies", "a policy", `\d+`, catalog.Policies, bySchema, false}
	publication = kind{"/publications", "a publication", `\d+`, catalog.Publications, nil, false}
	extensions  = kind{"/extensions", "an extension", "", catalog.Extensions, nil, false}
	tableRights = kind{"/table-privileges", "a relation", "", catalog.TablePrivileges, bySchema, false}
	columnRight = kind{"/column-privileges", "a column", "", catalog.ColumnPrivileges, bySchema, false}
	config      = kind{"/config", "a setting", "", catalog.Config, nil, false}
)

// readRoutes adds the routes that change nothing.
func (e *Engine) readRoutes(r chi.Router) {
	for _, k := range []kind{schemas, tables, columns, views, matviews, foreign, indexes, functions, triggers, types,
		roles, policies, publication, extensions, tableRights, columnRight, config} {
		r.Get(k.path, e.lister(k))
		if k.id != "" {
			r.Get(k.path+"/{id:"+k.id+"}", e.getter(k))
		}
	}
	r.Get("/columns/{table:\\d+}", e.firstColumn)
	r.Get("/extensions/{name}", e.extension)
	r.Get("/config/version", e.version)
	for _, g := range []string{"typescript", "go", "swift", "python"} {
		r.Get("/generators/"+g, e.generator(g))
	}
}

// lister replies with a list.
func (e *Engine) lister(k kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		filter, err := k.filter(r.URL.Query())
		if err != nil {
			e.failWith(w, r, err, http.StatusBadRequest)
			return
		}
		list, err := e.read1(r, k.list(filter))
		if err != nil {
			e.failWith(w, r, err, http.StatusInternalServerError)
			return
		}
		replyJSON(w, http.StatusOK, list)
	}
}

// filter reads the query parameters of a list.
func (k kind) filter(q url.Values) (f catalog.Filter, err error) {
	flag := func(name string, otherwise bool) bool {
		text := q.Get(name)
		if text == "" || !slices.Contains(k.options, name) {
			return otherwise
		}
		value, perr := strconv.ParseBool(text)
		if perr != nil {
			err = badRequest(fmt.Sprintf("querystring/%s must be boolean", name))
		}
		return value
	}
	number := func(name string) int {
		text := q.Get(name)
		if text == "" {
			return 0
		}
		n, perr := strconv.Atoi(text)
		if perr != nil || n < 0 {
			err = badRequest(fmt.Sprintf("querystring/%s must be integer", name))
		}
		return n
	}
	names := func(name string) []string {
		if text := q.Get(name); text != "" && slices.Contains(k.options, name) {
			return strings.Split(text, ",")
		}
		return nil
	}
	f = catalog.Filter{Schemas: names(included), Except: names(excluded),
		System:  flag(systemSchemas, false) || flag(defaultRoles, false),
		Columns: flag(withColumns, k.columns), ArrayTypes: flag(arrayTypes, false),
		Limit: number("limit"), Offset: number("offset")}
	if !slices.Contains(k.options, systemSchemas) && slices.Contains(k.options, withColumns) {
		f.System = true // materialized views and foreign tables of all schemas
	}
	return f, err
}

// byID returns the Filter of one object.
func (k kind) byID(id string) catalog.Filter {
	return catalog.Filter{IDs: []string{id}, Columns: slices.Contains(k.options, withColumns)}
}

// getter replies with one object.
func (e *Engine) getter(k kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := chi.URLParam(r, "id")
		list, err := e.read1(r, k.list(k.byID(id)))
		e.replyOne(w, r, list, err, "with ID "+id, k)
	}
}

// replyOne replies with the first object of a list.
func (e *Engine) replyOne(w http.ResponseWriter, r *http.Request, list json.RawMessage, err error, which string, k kind) {
	var one json.RawMessage
	if err == nil {
		one, err = first(list, k, which)
	}
	if err != nil {
		e.failWith(w, r, err, http.StatusNotFound)
		return
	}
	replyJSON(w, http.StatusOK, one)
}

// first returns the first object of a list. which names the object in the error of an empty list.
func first(list json.RawMessage, k kind, which string) (json.RawMessage, error) {
	var all []json.RawMessage
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &requestError{http.StatusNotFound, "Cannot find " + k.article + " " + which}
	}
	return all[0], nil
}

// firstColumn replies with the first column of a table, as upstream does for an ID without a
// number.
func (e *Engine) firstColumn(w http.ResponseWriter, r *http.Request) {
	table := chi.URLParam(r, "table")
	list, err := e.read1(r, catalog.Columns(catalog.Filter{Relation: table, Limit: 1}))
	e.replyOne(w, r, list, err, "with ID "+table, columns)
}

func (e *Engine) extension(w http.ResponseWriter, r *http.Request) {
	name := pathName(r)
	list, err := e.read1(r, catalog.Extensions(catalog.Filter{Name: name}))
	e.replyOne(w, r, list, err, "named "+name, extensions)
}

func (e *Engine) version(w http.ResponseWriter, r *http.Request) {
	list, err := e.read1(r, catalog.Version())
	e.replyOne(w, r, list, err, "", config)
}

// read1 runs one statement of the catalogue for a request.
func (e *Engine) read1(r *http.Request, s pool.Statement) (json.RawMessage, error) {
	lists, err := e.readAll(r, s)
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

// readAll runs statements of the catalogue for a request, within its time limit.
func (e *Engine) readAll(r *http.Request, statements ...pool.Statement) (lists []json.RawMessage, err error) {
	at, err := e.place(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), e.QueryTimeout)
	defer cancel()
	err = at.catalog(ctx, func(s *pool.Session) error {
		lists, err = catalog.Read(ctx, s, statements...)
		return err
	})
	return lists, err
}
