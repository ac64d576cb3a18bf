package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

// publishedTable is a table of the publication with the columns that a role may read. For a
// partition, these are the columns that the role may read through its root.
type publishedTable struct {
	ID            int64
	Schema, Table string
	Columns       []string
	Types         []string // SQL names
	Bases         []uint32 // OIDs of the types, or of the types below domains
}

// validBinding is what a valid binding listens to.
type validBinding struct {
	id      uint32 // OID of the table; 0 if a part of its name is "*"
	filters []condition
}

// maxIn is the maximum number of values of a filter in.
const maxIn = 100

// validateBindings validates the bindings for a role as upstream's trigger does, and returns the
// conditions of each.
func (s *Stream) validateBindings(ctx context.Context, role string, sub *subscriber) ([]validBinding, error) {
	all := make([]validBinding, len(sub.bindings))
	for i, b := range sub.bindings {
		if len(sub.tables) > 0 {
			all[i].id = sub.tables[i]
		}
		filters, err := parseFilters(b.Filter)
		if err != nil {
			return nil, &SubscribeError{"Error parsing `filter` params: " + err.Error()}
		}
		if err = s.validateBinding(ctx, role, b, filters, &all[i]); err == nil {
			continue
		}
		shown := fmt.Sprintf("[event: %s, schema: %s, table: %s, filters: %s, select: %s]", b.Event, b.Schema, b.Table,
			showFilters(filters), showSelect(b.Select))
		if errors.Is(err, errNotPublished) {
			return nil, &SubscribeError{unableToSubscribe +
				"Please check Realtime is enabled for the given connect parameters: " + shown}
		}
		if text, ok := serverText(err); ok {
			return nil, &SubscribeError{unableToSubscribe +
				"An exception happened so please check your connect parameters: " + shown + ". Exception: " + text}
		}
		return nil, err
	}
	return all, nil
}

const unableToSubscribe = "Unable to subscribe to changes with given parameters. "

var errNotPublished = errors.New("the publication has no such table")

func showFilters(filters []filter) string {
	parts := make([]string, len(filters))
	for i, f := range filters {
		parts[i] = f.String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func showSelect(columns []string) string {
	if columns == nil {
		return "nil"
	}
	parts := make([]any, len(columns))
	for i, c := range columns {
		parts[i] = c
	}
	return inspect(parts)
}

// triggerError is an error that upstream's trigger raises.
type triggerError string

// Error returns upstream's text.
func (e triggerError) Error() string { return string(e) }

// serverText returns an error of the database as upstream shows it. Other errors are not for
// clients.
func serverText(err error) (string, bool) {
	var raised triggerError
	if errors.As(err, &raised) {
		return "ERROR P0001 (raise_exception) " + string(raised), true
	}
	pg, ok := pool.AsPgError(err)
	if !ok || pool.IsUnavailable(err) {
		return "", false
	}
	name, ok := conditionNames[pg.Code]
	if !ok {
		name = "error"
	}
	return fmt.Sprintf("ERROR %s (%s) %s", pg.Code, name, pg.Message), true
}

// conditionNames are names of SQLSTATEs that a check of filters can have.
var conditionNames = map[string]string{
	"22P02": "invalid_text_representation", "22003": "numeric_value_out_of_range", "22007": "invalid_datetime_format",
	"22008": "datetime_field_overflow", "22001": "string_data_right_truncation", "22023": "invalid_parameter_value",
	"23514": "check_violation", "42704": "undefined_object", "42601": "syntax_error", "42846": "cannot_coerce",
	"22021": "character_not_in_repertoire", "2201B": "invalid_regular_expression", "22P05": "untranslatable_character",
	"42883": "undefined_function", "42501": "insufficient_privilege", "57014": "query_canceled",
}

// validateBinding validates one binding against each table that it matches. valid.id is the table
// that the binding named before, and may have another name now.
func (s *Stream) validateBinding(ctx context.Context, role string, b Binding, filters []filter,
	valid *validBinding) error {
	tables, err := s.publishedTables(ctx, role, b, valid.id)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return errNotPublished
	}
	if b.Schema != "*" && b.Table != "*" && valid.id == 0 {
		valid.id = uint32(tables[0].ID)
	}
	valid.filters = make([]condition, len(filters))
	for n, t := range tables {
		for i, f := range filters {
			at := slices.Index(t.Columns, f.column)
			if at < 0 {
				return triggerError("invalid column for filter " + f.column)
			}
			c, err := s.validateFilter(ctx, f, t.Types[at], t.Bases[at])
			if err != nil {
				return err
			}
			if n > 0 && c.oid != valid.filters[i].oid {
				c.oid = 0 // the server evaluates it
			}
			valid.filters[i] = c
		}
		for _, name := range b.Select {
			if !slices.Contains(t.Columns, name) {
				return triggerError("invalid column for select " + name)
			}
		}
	}
	return nil
}

// publishedTables returns the tables of the publication that a binding matches, and the one with an
// OID.
func (s *Stream) publishedTables(ctx context.Context, role string, b Binding, id uint32) (tables []publishedTable,
	err error) {
	err = s.o.Pool.Query(ctx, pool.Caller{}, `
		select c.oid::int8, n.nspname, c.relname, a.names, a.types, a.bases
		from pg_publication_tables p
		join pg_namespace n on n.nspname = p.schemaname
		join pg_class c on c.relnamespace = n.oid and c.relname = p.tablename
		join pg_class r on r.oid = case when c.relispartition then pg_partition_root(c.oid) else c.oid end
		cross join lateral (
			select coalesce(array_agg(attname::text), '{}') as names,
				coalesce(array_agg(format_type(atttypid, -1)), '{}') as types,
				coalesce(array_agg((
					with recursive below (type) as (
						select atttypid
						union all
						select t.typbasetype from below b join pg_type t on t.oid = b.type where t.typtype = 'd'
					)
					select b.type from below b join pg_type t on t.oid = b.type where t.typtype <> 'd')::int8), '{}') as bases
			from pg_attribute
			where attrelid = r.oid and attnum > 0 and not attisdropped
				and has_column_privilege(
					(select oid from pg_roles where oid = $4::text::regrole), attrelid, attnum, 'select')
		) a
		where p.pubname = $1 and (($2 = '*' or p.schemaname = $2) and ($3 = '*' or p.tablename = $3) or c.oid = $5::int8::oid)
		order by 2, 3`,
		[]any{s.o.Publication, b.Schema, b.Table, identifier(role), int64(id)}, func(rows pgx.Rows) (err error) {
			tables, err = pgx.CollectRows(rows, pgx.RowToStructByPos[publishedTable])
			return err
		})
	return tables, err
}

// filterTurn is that of a filter whose value the server checks. A pattern can need half a second,
// and the checks of changes must not wait for the connections of many.
var filterTurn = Turn{"filter", 2}

// validateFilter validates a filter for a column's type. base is the type below a domain.
func (s *Stream) validateFilter(ctx context.Context, f filter, typeName string, base uint32) (condition, error) {
	c := condition{filter: f, oid: base}
	release, err := s.turns.Take(ctx, filterTurn)
	if err != nil {
		return c, err
	}
	defer release()
	switch f.op {
	case "in":
		return c, s.canonicalElements(ctx, &c)
	case "is":
		if !slices.Contains([]string{"null", "true", "false", "unknown"}, f.value) {
			return c, triggerError("invalid value for is filter: must be null, true, false, or unknown")
		}
		if f.value != "null" && base != oidBool {
			return c, triggerError(fmt.Sprintf("is %s filter requires a boolean column, got %s", f.value, typeName))
		}
		return c, nil
	case "like", "ilike", "match", "imatch":
		return c, s.validatePattern(ctx, f, typeName, base)
	}
	texts, err := s.outputs(ctx, `select `+outputText("$1", base), f.value, base)
	if err == nil && texts[0] == nil { // a type whose input is null
		c.oid = 0
		return c, nil
	}
	if err == nil {
		c.values = []string{*texts[0]}
	}
	return c, err
}

// outputs runs a statement with one parameter of a type and returns its first column. The type is
// given by its OID, so the engine's role needs no right to use the type's schema.
func (s *Stream) outputs(ctx context.Context, sql, value string, oid uint32) (texts []*string, err error) {
	results, err := s.o.Pool.Units(ctx, []pool.Unit{{Caller: asInLog, SQL: sql, Args: [][]byte{[]byte(value)},
		Types: []uint32{oid}}})
	if err == nil {
		err = results[0].Err
	}
	if err != nil {
		return nil, err
	}
	for _, row := range results[0].Rows {
		texts = append(texts, row[0])
	}
	return texts, nil
}

// outputText returns an expression for the text form of a value in the write-ahead log.
func outputText(expression string, oid uint32) string {
	if oid == oidBool { // the cast would return true or false
		return "case " + expression + " when true then 't' when false then 'f' end"
	}
	return "(" + expression + ")::text"
}

// canonicalElements sets the values of a filter in.
func (s *Stream) canonicalElements(ctx context.Context, c *condition) error {
	var array int64
	if err := s.queryValue(ctx, `select typarray::int8 from pg_type where oid = $1::int8::oid`, []any{int64(c.oid)},
		&array); err != nil {
		return err
	}
	if array == 0 { // the type has no arrays, or is one
		array = int64(c.oid)
	}
	elements, err := s.outputs(ctx, `select `+outputText("e", c.oid)+` from unnest($1) e`, c.value, uint32(array))
	if err != nil {
		return err
	}
	if len(elements) > maxIn {
		return triggerError("too many values for `in` filter. Maximum 100")
	}
	for _, e := range elements {
		if e == nil {
			c.null = true
			continue
		}
		c.values = append(c.values, *e)
	}
	return nil
}

// validatePattern validates a filter with a pattern.
func (s *Stream) validatePattern(ctx context.Context, f filter, typeName string, oid uint32) error {
	operator, sameTypes := "~~", false
	switch f.op {
	case "match":
		operator, sameTypes = "~", true
	case "imatch":
		operator, sameTypes = "~*", true
	}
	var exists bool
	err := s.queryValue(ctx, `
		select exists (select from pg_operator
			where oprname = $1 and oprleft = $2::int8::oid
				and (not $3 or oprright = oprleft and oprresult = 'boolean'::regtype))`,
		[]any{operator, int64(oid), sameTypes}, &exists)
	if err != nil {
		return err
	}
	if !exists {
		return triggerError(fmt.Sprintf("operator %s requires a text-compatible column type, got %s", f.op, typeName))
	}
	if !sameTypes {
		return nil
	}
	var matched bool
	err = s.queryValue(ctx, `select '' ~ $1`, []any{f.value}, &matched)
	if pg, ok := pool.AsPgError(err); ok {
		return triggerError(fmt.Sprintf("invalid regular expression for %s filter: %s", f.op, pg.Message))
	}
	return err
}

// queryValue runs a query of one row and one column.
func (s *Stream) queryValue(ctx context.Context, sql string, args []any, to any) error {
	return s.o.Pool.Query(ctx, pool.Caller{}, sql, args, func(rows pgx.Rows) error {
		_, err := pgx.CollectExactlyOneRow(rows,
			func(row pgx.CollectableRow) (struct{}, error) { return struct{}{}, row.Scan(to) })
		return err
	})
}
