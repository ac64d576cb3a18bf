package logs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scope is a row with the elements that UNNEST has joined to it, the newest last.
type scope struct {
	alias  string // of the table
	row    record
	joined []joined
}

type joined struct {
	alias string
	value any
}

// rows evaluates expressions over one row, or over a group of rows.
type rows struct {
	scope
	group   *group // nil for a single row
	aliases map[string]*node
}

// lookup returns the value of a name: an alias with a path below it, a column, or a member of a
// joined element.
func (s scope) lookup(path []string) (any, error) {
	for _, j := range slices.Backward(s.joined) {
		if j.alias == path[0] {
			return member(j.value, path[1:]), nil
		}
	}
	if path[0] == s.alias && len(path) > 1 {
		path = path[1:]
	}
	if value, ok := s.row[path[0]]; ok {
		return member(value, path[1:]), nil
	}
	for _, j := range slices.Backward(s.joined) {
		if r, ok := j.value.(record); ok {
			if value, ok := r[path[0]]; ok {
				return member(value, path[1:]), nil
			}
		}
	}
	return nil, fmt.Errorf("there is no column %q", strings.Join(path, "."))
}

// member returns a member of a struct. This server's logs lack many members of Supabase's: they are
// null.
func member(value any, path []string) any {
	for _, name := range path {
		r, ok := value.(record)
		if !ok {
			return nil
		}
		value = r[name]
	}
	return value
}

// evaluate returns the value of an expression: nil, bool, float64, string, time.Time, []any or
// record.
func (r rows) evaluate(n *node) (any, error) {
	switch n.op {
	case "value":
		return n.value, nil
	case "name":
		if alias, ok := r.aliases[n.path[0]]; ok && len(n.path) == 1 {
			r.aliases = nil
			return r.evaluate(alias)
		}
		return r.lookup(n.path)
	case "and", "or":
		return r.logic(n)
	case "case":
		return r.cases(n)
	case "call":
		if aggregates[n.text] {
			return r.aggregate(n)
		}
	}
	args := make([]any, len(n.args))
	for i, arg := range n.args {
		if n.op == "call" && i > 0 && isUnit(n.text, arg) {
			args[i] = arg.path[0]
			continue
		}
		value, err := r.evaluate(arg)
		if err != nil {
			return nil, err
		}
		args[i] = value
	}
	switch n.op {
	case "call":
		return call(n.text, args)
	case "cast":
		return cast(args[0], n.text), nil
	}
	return operate(n.op, args)
}

// logic evaluates AND and OR with null as in SQL.
func (r rows) logic(n *node) (any, error) {
	stop := n.op == "or"
	var result any = !stop
	for _, arg := range n.args {
		value, err := r.evaluate(arg)
		if err != nil {
			return nil, err
		}
		switch value {
		case stop:
			return stop, nil
		case nil:
			result = nil
		}
	}
	return result, nil
}

func (r rows) cases(n *node) (any, error) {
	for i := 0; i+1 < len(n.args); i += 2 {
		if is, err := r.evaluate(n.args[i]); err != nil {
			return nil, err
		} else if is == true {
			return r.evaluate(n.args[i+1])
		}
	}
	if len(n.args)%2 == 1 {
		return r.evaluate(n.args[len(n.args)-1])
	}
	return nil, nil
}

// operate evaluates an operator. The result is null if an operand is.
func operate(op string, a []any) (any, error) {
	switch op {
	case "is null":
		return a[0] == nil, nil
	case "in":
		return oneOf(a[0], a[1:]), nil
	case "index":
		return element(a[0], a[1]), nil
	}
	if slices.Contains(a, nil) {
		return nil, nil
	}
	switch op {
	case "not":
		return a[0] != true, nil
	case "like":
		return like(text(a[0]), text(a[1])), nil
	case "between":
		low, ok1 := compare(a[0], a[1])
		high, ok2 := compare(a[0], a[2])
		return ok1 && ok2 && low >= 0 && high <= 0, nil
	case "||":
		return text(a[0]) + text(a[1]), nil
	case "+", "-", "*", "/":
		return arithmetic(op, a[0], a[1])
	}
	order, ok := compare(a[0], a[1])
	if !ok {
		return nil, fmt.Errorf("%v and %v cannot be compared", a[0], a[1])
	}
	return map[string]bool{"=": order == 0, "!=": order != 0, "<>": order != 0, "<": order < 0, "<=": order <= 0,
		">": order > 0, ">=": order >= 0}[op], nil
}

// oneOf reports whether a value is in a list; null for null.
func oneOf(value any, list []any) any {
	if value == nil {
		return nil
	}
	return slices.ContainsFunc(list, func(other any) bool {
		order, ok := compare(value, other)
		return ok && order == 0
	})
}

// element returns an element of an array, null if there is none.
func element(array, at any) any {
	list, ok := array.([]any)
	i, number := at.(float64)
	if !ok || !number || int(i) < 0 || int(i) >= len(list) {
		return nil
	}
	return list[int(i)]
}

func arithmetic(op string, a, b any) (any, error) {
	x, ok1 := number(a)
	y, ok2 := number(b)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("%q needs numbers", op)
	}
	switch op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	}
	if y == 0 {
		return nil, errors.New("division by zero")
	}
	return x / y, nil
}

// number returns a value as a number.
func number(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, true
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return f, err == nil && !math.IsNaN(f)
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case time.Time:
		return float64(v.UnixMicro()), true
	}
	return 0, false
}

// compare orders two values of one kind. A string is compared with a time or a number as such.
func compare(a, b any) (int, bool) {
	if a == nil || b == nil {
		return 0, false
	}
	if x, ok := a.(time.Time); ok {
		y, ok := toTime(b)
		return x.Compare(y), ok
	}
	if y, ok := b.(time.Time); ok {
		x, ok := toTime(a)
		return x.Compare(y), ok
	}
	x, isText := a.(string)
	y, isText2 := b.(string)
	if isText && isText2 {
		return strings.Compare(x, y), true
	}
	p, ok1 := number(a)
	q, ok2 := number(b)
	return cmp.Compare(p, q), ok1 && ok2
}

// toTime returns a value as a time: numbers are microseconds.
func toTime(value any) (time.Time, bool) {
	switch v := value.(type) {
	case time.Time:
		return v, true
	case float64:
		return time.UnixMicro(int64(v)).UTC(), true
	case string:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999",
			"2006-01-02 15:04:05.999999Z07:00", "2006-01-02 15:04:05.999999", "2006-01-02"} {
			if t, err := time.Parse(layout, v); err == nil {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, false
}

// text returns a value as a string.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return v.Format("2006-01-02T15:04:05.999999")
	}
	return fmt.Sprint(value)
}

// like reports whether a text matches a pattern of LIKE.
func like(s, pattern string) bool {
	var out strings.Builder
	for _, r := range pattern {
		switch r {
		case '%':
			out.WriteString(".*")
		case '_':
			out.WriteString(".")
		default:
			out.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	is, err := regexp.MatchString("(?s)^"+out.String()+"$", s)
	return err == nil && is
}
