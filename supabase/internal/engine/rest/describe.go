package rest

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/openapi"
	"daawo/supabase/internal/engine/rest/schema"
	"daawo/supabase/internal/engine/rest/sql"
)

// These statements select the relations and functions of a schema that the caller may use, and the
// schema's comment. A function is selected as its name and number of parameters. $1 is the schema.
const (
	visibleTablesSQL = `
select c.relname
  from pg_class c
 where c.relnamespace = $1::regnamespace and c.relkind in ('v', 'r', 'm', 'f', 'p') and not c.relispartition
   and (pg_has_role(c.relowner, 'usage')
     or has_table_privilege(c.oid, 'select, insert, update, delete, truncate, references, trigger')
     or has_any_column_privilege(c.oid, 'select, insert, update, references'))`

	visibleRoutinesSQL = `
select p.proname, p.pronargs
  from pg_proc p
 where p.pronamespace = $1::regnamespace and has_function_privilege(p.oid, 'execute')`

	schemaCommentSQL = `select obj_description($1::regnamespace, 'pg_namespace')`
)

// describe answers the root with an OpenAPI document of everything, or of what the caller may use.
func (e *Engine) describe(ctx context.Context, s *state, w http.ResponseWriter, r *http.Request, q *request,
	id identity, t *stopwatch, report *Report) error {
	if !slices.ContainsFunc(q.accept, func(m ast.MediaType) bool {
		return m.Kind == ast.MediaOpenAPI || m.Kind == ast.MediaJSON || m.Kind == ast.MediaAny
	}) {
		names := make([]string, len(q.accept))
		for i, m := range q.accept {
			names[i] = m.Mime()
		}
		return apierror.Errorf(406, "PGRST107", "None of these media types are available: %s", joinComma(names))
	}
	t.lap("plan")
	doc, err := e.document(ctx, s, r, q, id, report)
	if err != nil {
		return err
	}
	t.lap("transaction")
	body, err := openapi.Encode(doc)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", ast.MediaType{Kind: ast.MediaOpenAPI}.ContentType())
	h.Set("Vary", "Accept, Prefer, Range")
	if q.negotiated {
		h.Set("Content-Profile", q.schema)
	}
	t.header(h)
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the client may have disconnected
	return nil
}

func (e *Engine) document(ctx context.Context, s *state, r *http.Request, q *request, id identity,
	report *Report) (openapi.Document, error) {
	c := &s.config
	doc := openapi.Document{Version: Version, Cache: s.schemaCache, Host: c.Host, Port: c.Port, ProxyURL: c.ProxyURL,
		Secured: c.OpenAPISecured}
	set, scope := s.setStatement(&buffers{}, r, q, id, nil, true)
	name := [][]byte{[]byte(sql.Ident(q.schema))}
	list := []pool.Statement{set}
	if fn := c.PreRequest; fn != nil {
		list = append(list, callStatement(*fn))
	}
	first := len(list)
	list = append(list, pool.Statement{SQL: schemaCommentSQL, Args: name})
	all := c.OpenAPI == IgnorePrivileges
	if !all {
		doc.SearchPath = append([]string{q.schema}, c.ExtraSearchPath...)
	}
	if !all {
		list = append(list, pool.Statement{SQL: visibleTablesSQL, Args: name},
			pool.Statement{SQL: visibleRoutinesSQL, Args: name})
	}
	e.logQuery(ctx, c, id, list, report)
	tables, routines := map[string]bool{}, map[string]bool{}
	err := e.pool.Session(ctx, scope, func(conn *pool.Session) error {
		return conn.Run(ctx, list, func(i int, rows *pgconn.ResultReader) error {
			if i < first {
				return nil
			}
			for rows.NextRow() {
				v := rows.Values()
				switch i - first {
				case 0:
					if v[0] != nil {
						doc.Schema = new(string(v[0]))
					}
				case 1:
					tables[string(v[0])] = true
				case 2:
					routines[string(v[0])+"/"+string(v[1])] = true
				}
			}
			return nil
		})
	})
	if err != nil {
		return doc, e.databaseError(err, id.anon, true)
	}
	for n, t := range s.schemaCache.Tables {
		if n.Schema == q.schema && (all || tables[n.Name]) {
			doc.Tables = append(doc.Tables, t)
		}
	}
	for n, overloads := range s.schemaCache.Routines {
		for _, f := range overloads {
			if n.Schema == q.schema && (all || routines[n.Name+"/"+itoa(len(f.Params))]) {
				doc.Routines = append(doc.Routines, f)
			}
		}
	}
	slices.SortFunc(doc.Tables, func(a, b *schema.Table) int { return cmp.Compare(a.Name.Name, b.Name.Name) })
	slices.SortFunc(doc.Routines, func(a, b *schema.Routine) int {
		return cmp.Or(cmp.Compare(a.Name.Name, b.Name.Name), cmp.Compare(len(a.Params), len(b.Params)))
	})
	return doc, nil
}
