package meta

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/database/catalog"
	"daawo/supabase/internal/database/pool"
)

// change is the transaction of a request that changes objects.
type change struct {
	ctx  context.Context
	conn *pgconn.PgConn
	r    *http.Request
}

// writeRoutes adds the routes that change objects. Each replies with the object: as it is after the
// change, or as it was before its removal.
func (e *Engine) writeRoutes(r chi.Router) {
	for _, route := range []struct {
		method, path string
		do           func(*change) (json.RawMessage, error)
	}{
		{"POST", "/schemas", createSchema}, {"PATCH", "/schemas/{id:\\d+}", updateSchema},
		{"POST", "/tables", createTable}, {"PATCH", "/tables/{id:\\d+}", updateTable},
		{"POST", "/columns", createColumn}, {"PATCH", "/columns/{id:\\d+\\.\\d+}", updateColumn},
		{"POST", "/functions", createFunction}, {"PATCH", "/functions/{id:\\d+}", updateFunction},
		{"POST", "/triggers", createTrigger}, {"PATCH", "/triggers/{id:\\d+}", updateTrigger},
		{"POST", "/policies", createPolicy}, {"PATCH", "/policies/{id:\\d+}", updatePolicy},
		{"POST", "/roles", createRole}, {"PATCH", "/roles/{id:\\d+}", updateRole},
		{"POST", "/publications", createPublication}, {"PATCH", "/publications/{id:\\d+}", updatePublication},
		{"POST", "/extensions", createExtension}, {"PATCH", "/extensions/{name}", updateExtension},
		{"POST", "/table-privileges", grantTables}, {"DELETE", "/table-privileges", revokeTables},
		{"POST", "/column-privileges", grantColumns}, {"DELETE", "/column-privileges", revokeColumns},

		{"DELETE", "/schemas/{id:\\d+}", remover(schemas, dropSchema)},
		{"DELETE", "/tables/{id:\\d+}", remover(tables, dropTable)},
		{"DELETE", "/columns/{id:\\d+\\.\\d+}", remover(columns, dropColumn)},
		{"DELETE", "/functions/{id:\\d+}", remover(functions, dropFunction)},
		{"DELETE", "/triggers/{id:\\d+}", remover(triggers, dropTrigger)},
		{"DELETE", "/policies/{id:\\d+}", remover(policies, dropPolicy)},
		{"DELETE", "/roles/{id:\\d+}", remover(roles, dropRole)},
		{"DELETE", "/publications/{id:\\d+}", remover(publication, dropPublication)},
		{"DELETE", "/extensions/{name}", removeExtension},
	} {
		r.Method(route.method, route.path, e.changer(route.do))
	}
}

// changer runs a change in one transaction and replies with its object.
func (e *Engine) changer(do func(*change) (json.RawMessage, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		at, err := e.place(r)
		if err != nil {
			e.failWith(w, r, err, http.StatusInternalServerError)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), e.QueryTimeout)
		defer cancel()
		var object json.RawMessage
		err = at.console(ctx, func(conn *pgconn.PgConn) (err error) {
			c := &change{ctx, conn, r}
			object, err = c.transact(do)
			return err
		})
		if err != nil {
			e.failWith(w, r, err, http.StatusBadRequest)
			return
		}
		replyJSON(w, http.StatusOK, object)
	}
}

func (c *change) transact(do func(*change) (json.RawMessage, error)) (json.RawMessage, error) {
	if err := c.exec("begin"); err != nil {
		return nil, err
	}
	object, err := do(c)
	if err != nil {
		if !c.conn.IsClosed() {
			err = errors.Join(err, c.exec("rollback"))
		}
		return nil, err
	}
	return object, c.exec("commit")
}

// exec runs one statement. The extended protocol refuses several: an expression of the caller
// cannot add one. Each part is a line, so a comment in a part ends with it.
func (c *change) exec(parts ...string) error {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return c.conn.ExecParams(c.ctx, strings.Join(parts, "\n"), nil, nil, nil, nil).Read().Err
}

// execIf runs a statement if the condition holds.
func (c *change) execIf(condition bool, parts ...string) error {
	if !condition {
		return nil
	}
	return c.exec(parts...)
}

// inOrder runs steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// value returns the only value of a statement; null is "" and false.
func (c *change) value(sql string, args ...string) (string, bool, error) {
	encoded := make([][]byte, len(args))
	for i, arg := range args {
		encoded[i] = []byte(arg)
	}
	result := c.conn.ExecParams(c.ctx, sql, encoded, nil, nil, nil).Read()
	if result.Err != nil || len(result.Rows) == 0 || result.Rows[0][0] == nil {
		return "", false, result.Err
	}
	return string(result.Rows[0][0]), true, nil
}

// one returns the first object of a list.
func (c *change) one(k kind, f catalog.Filter, which string) (json.RawMessage, error) {
	lists, err := catalog.Read(c.ctx, pool.Unprepared(c.conn), k.list(f))
	if err != nil {
		return nil, err
	}
	return first(lists[0], k, which)
}

// named returns the object that a change made.
func (c *change) named(k kind, f catalog.Filter) (json.RawMessage, error) {
	f.Columns = slices.Contains(k.options, withColumns)
	return c.one(k, f, "named "+f.Name)
}

// target returns the object of the request's path, and decodes it into *into.
func (c *change) target(k kind, into any) (json.RawMessage, error) {
	id := chi.URLParam(c.r, "id")
	object, err := c.one(k, k.byID(id), "with ID "+id)
	if err != nil {
		return nil, err
	}
	return object, json.Unmarshal(object, into)
}

// body decodes the request's body into *into.
func (c *change) body(into any) error { return readBody(c.r, into) }

// behavior returns what a removal does to the objects that depend on the removed one.
func (c *change) behavior() (string, error) {
	switch c.r.URL.Query().Get("cascade") {
	case "true":
		return "cascade", nil
	case "", "false":
		return "restrict", nil
	}
	return "", badRequest("querystring/cascade must be boolean")
}

// drop drops an object, and with ?cascade=true those that depend on it.
func (c *change) drop(parts ...string) error {
	behavior, err := c.behavior()
	if err != nil {
		return err
	}
	return c.exec(append(append([]string{"drop"}, parts...), behavior)...)
}

// remover returns the change that removes an object.
func remover[T any](k kind, drop func(*change, T) error) func(*change) (json.RawMessage, error) {
	return func(c *change) (json.RawMessage, error) {
		var old T
		object, err := c.target(k, &old)
		if err != nil {
			return nil, err
		}
		return object, drop(c, old)
	}
}

// ident returns a quoted name; its parts are separated by points.
func ident(parts ...string) string { return pgx.Identifier(parts).Sanitize() }

// idents returns quoted names separated by commas.
func idents(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = ident(name)
	}
	return strings.Join(quoted, ", ")
}

// literal returns a quoted string that means the same with each standard_conforming_strings.
func literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// literalOf returns the literal of a JSON value.
func literalOf(raw json.RawMessage) (string, error) {
	text, null, err := textParameter(raw)
	switch {
	case err != nil:
		return "", badRequest(err.Error())
	case null:
		return "NULL", nil
	case raw[0] == '[' || raw[0] == '{':
		return literal(string(raw)) + "::jsonb", nil
	}
	return literal(text), nil
}

// comment is the comment of a request's object: nil without one, "" for null, which removes it.
type comment []string

// UnmarshalJSON reads a string or null.
func (m *comment) UnmarshalJSON(text []byte) error {
	*m = make(comment, 1)
	return json.Unmarshal(text, &(*m)[0])
}

// set sets the comment of an object, if the request has one.
func (m comment) set(c *change, on, object string) error {
	return c.execIf(m != nil, "comment on", on, object, "is", literal(strings.Join(m, "")))
}

// literalOr returns the literal of a string, or NULL.
func literalOr(text *string) string {
	if text == nil {
		return "NULL"
	}
	return literal(*text)
}

// expression returns a part of a statement that the caller wrote, in parentheses that it cannot
// close.
func expression(name, text string) (string, error) {
	if !balanced(text) {
		return "", badRequest("body/" + name + ": a parenthesis, a quote or a comment is not closed")
	}
	return "(\n" + text + "\n)", nil
}

// balanced reports whether each parenthesis, quote and comment of SQL begins and ends in it.
func balanced(sql string) bool {
	depth := 0
	for _, token := range split(sql) {
		switch {
		case token == "(":
			depth++
		case token == ")":
			depth--
		case strings.HasPrefix(token, "--"):
		case token == "'", token == `"`, unclosed(token):
			return false
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// unclosed reports whether Postgres reads more than the token as a comment: Postgres nests
// comments, and one may begin in an operator.
func unclosed(token string) bool {
	if body, ok := strings.CutPrefix(token, "/*"); ok {
		return !strings.HasSuffix(body, "*/") || strings.Contains(body, "/*")
	}
	return strings.Trim(token, operators) == "" && (strings.Contains(token, "--") || strings.Contains(token, "/*"))
}

// keyword returns a word of SQL in a statement. It must be one of the allowed ones.
func keyword(name, word string, allowed ...string) (string, error) {
	for _, a := range allowed {
		if strings.EqualFold(word, a) {
			return a, nil
		}
	}
	return "", badRequest("body/" + name + " must be equal to one of the allowed values: " + strings.Join(allowed, ", "))
}

// or returns *given, or otherwise if it is nil.
func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

// grantee returns a role of a grant or a policy, in which public is every role.
func grantee(role string) string {
	if strings.EqualFold(role, "public") {
		return "public"
	}
	return ident(role)
}
