package grammar

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/engine/rest/ast"
)

// Query parses a query string or the shape of one. With call the target is a function called with
// GET: then a parameter whose value is not a filter is an argument.
func Query(shape string, call bool) (*ast.Query, *Error) {
	pairs := splitQuery(shape)
	q := &ast.Query{Range: ast.AllRows(), Canonical: canonical(pairs)}
	sel := "*"
	seen := map[string]bool{}
	ranges := rangeSet{}
	for _, kv := range pairs {
		if !kv.hasValue {
			continue
		}
		var err *Error
		switch kindOf(kv.key) {
		case listKey:
			if seen[kv.key] {
				break
			}
			seen[kv.key] = true
			switch kv.key {
			case "select":
				sel = kv.value
			case "columns":
				q.Columns, err = names("columns", kv.value)
				slices.Sort(q.Columns)
				q.Columns = slices.Compact(q.Columns)
			default:
				q.OnConflict, err = names("on_conflict", kv.value)
			}
		case orderKey:
			err = addOrder(q, kv)
		case limitKey:
			ranges.limit(kv.key, kv.value)
		case offsetKey:
			ranges.offset(strings.TrimSuffix(kv.key, "offset")+"limit", kv.value)
		case logicKey:
			err = addLogic(q, kv)
		default:
			err = addFilter(q, kv, call)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(q.FilterKeys)
	q.FilterKeys = slices.Compact(q.FilterKeys)

	err := parse("select parameter", sel, sel, func(p *parser) (ok bool) {
		q.Select, ok = p.items(0)
		return ok
	})
	if err != nil {
		return nil, err
	}
	if err := ranges.into(q); err != nil {
		return nil, err
	}
	return q, nil
}

// names parses a list of columns.
func names(what, value string) (list []string, err *Error) {
	err = parse(what+" parameter", value, value, func(p *parser) (ok bool) {
		list, ok = p.columns()
		return ok
	})
	return list, err
}

// path parses the name of a parameter into the path to an embedded relation and a field.
func path(key string) (at ast.Path, f ast.Field, err *Error) {
	err = parse("tree path", key, key, func(p *parser) (ok bool) {
		at, f, ok = p.treePath()
		return ok
	})
	return at, f, err
}

func addFilter(q *ast.Query, kv pair, call bool) *Error {
	q.FilterKeys = append(q.FilterKeys, kv.key)
	at, field, err := path(kv.key)
	if err != nil {
		return err
	}
	var f ast.Filter
	argument := false
	err = parse("filter", kv.value, kv.value, func(p *parser) bool {
		f = ast.Filter{Field: field}
		if p.operation(&f, p.rest) {
			f.Value.Slot = kv.slot
			return true
		}
		argument = call && p.pos == 0
		return argument
	})
	switch {
	case err != nil:
	case argument:
		q.Params = append(q.Params, ast.Param{Name: field.Name, Value: ast.Value{Text: kv.value, Slot: kv.slot}})
	default:
		q.Filters = append(q.Filters, ast.At[ast.Filter]{Path: at, Value: f})
	}
	return err
}

func addOrder(q *ast.Query, kv pair) *Error {
	at, _, err := path(kv.key)
	if err != nil {
		return err
	}
	var terms []ast.OrderTerm
	if err := parse("order", kv.value, kv.value, func(p *parser) (ok bool) {
		terms, ok = p.order()
		return ok
	}); err != nil {
		return err
	}
	q.Order = append(q.Order, ast.At[[]ast.OrderTerm]{Path: at, Value: terms})
	return nil
}

func addLogic(q *ast.Query, kv pair) *Error {
	var names []string
	if err := parse("logic path", kv.key, kv.key, func(p *parser) (ok bool) {
		names, ok = p.dotted()
		return ok
	}); err != nil {
		return err
	}
	last := len(names) - 1
	op := names[last]
	if slices.Contains(names, "not") {
		op = "not." + op
	}
	at := slices.DeleteFunc(slices.Clone(names[:last]), func(s string) bool { return s == "not" })
	var tree ast.Logic
	if err := parse("logic tree", kv.value, op+kv.value, func(p *parser) (ok bool) {
		tree, ok = p.logic(0)
		return ok
	}); err != nil {
		return err
	}
	q.Logic = append(q.Logic, ast.At[ast.Logic]{Path: at, Value: tree})
	return nil
}

// rangeSet collects limits and offsets by the name of the limit parameter.
type rangeSet map[string]*rangeEntry

type rangeEntry struct {
	limit, offset       ast.Range
	hasLimit, hasOffset bool
	// The numbers as sent, for those that Postgres' bigint cannot hold.
	hugeLimit, hugeOffset bool
	limitText, offsetText string
}

func (s rangeSet) entry(key string) *rangeEntry {
	e := s[key]
	if e == nil {
		e = &rangeEntry{limit: ast.AllRows(), offset: ast.AllRows()}
		s[key] = e
	}
	return e
}

func (s rangeSet) limit(key, value string) {
	e := s.entry(key)
	e.hasLimit = true
	e.limit = ast.AllRows()
	n, ok, huge := integer(value)
	if ok {
		e.limit = ast.Range{Lo: 0, Hi: n - 1}
	}
	e.hugeLimit = huge && n > 0
	e.limitText = strings.TrimSpace(value)
}

func (s rangeSet) offset(key, value string) {
	e := s.entry(key)
	e.hasOffset = true
	e.offset = ast.AllRows()
	n, ok, huge := integer(value)
	if ok {
		e.offset = ast.Range{Lo: n, Hi: ast.NoLimit}
	}
	e.hugeOffset = huge
	e.offsetText = strings.TrimSpace(value)
}

// integer parses a limit or an offset. huge means that the number is beyond 64 bits.
func integer(s string) (n int64, ok, huge bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	huge = errors.Is(err, strconv.ErrRange)
	// No table has more rows than this bound, which keeps sums from overflowing.
	const most = 1 << 61
	return max(min(n, most), -most), err == nil || huge, huge
}

// into sets the ranges of q.
func (s rangeSet) into(q *ast.Query) *Error {
	for key, e := range s {
		if e.hugeLimit {
			q.Huge.Limit = e.limitText
		}
		if e.hugeOffset {
			q.Huge.Offset = e.offsetText
		}
		r := e.limit
		switch {
		case e.hasLimit && e.hasOffset:
			n, limited := e.limit.Limit()
			r = ast.Range{Lo: e.offset.Lo, Hi: e.offset.Lo + n - 1}
			if !limited {
				r = e.offset
			}
		case e.hasOffset:
			r = e.offset
		}
		at, _, err := path(key)
		if err != nil {
			return err
		}
		if len(at) == 0 {
			q.Range = r
			continue
		}
		q.Ranges = append(q.Ranges, ast.At[ast.Range]{Path: at, Value: r})
	}
	slices.SortFunc(q.Ranges, func(a, b ast.At[ast.Range]) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	return nil
}
