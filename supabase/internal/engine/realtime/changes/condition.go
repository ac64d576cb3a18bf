package changes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// condition is a checked filter. If its column has the type that it had at the check, and the type
// is simple, it is evaluated here; otherwise the server evaluates it.
type condition struct {
	filter
	oid    uint32   // type of the column at the check; 0 if the tables of the binding differ
	values []string // the value in the type's canonical text; for in: the elements
	null   bool     // in: an element is null
}

// simple are the types whose values are equal if and only if their texts are. Types with an order
// have a number there.
var simple = map[uint32]struct{ ordered bool }{
	oidInt2: {true}, oidInt4: {true}, oidInt8: {true}, oidText: {}, oidVarchar: {}, oidUUID: {}, oidBool: {},
}

// filterResult is the result of a condition or of all conditions of a filter.
type filterResult int8

const (
	rejects filterResult = iota
	accepts
	undecided // the server decides
)

// resultOf returns accepts for true.
func resultOf(b bool) filterResult {
	if b {
		return accepts
	}
	return rejects
}

// holds evaluates the condition for a value of a type. The comparison with null is unknown in SQL,
// which rejects the value, also if negated.
func (c *condition) holds(oid uint32, v pgoutput.Value) filterResult {
	isNull := v.Kind == pgoutput.Null
	if c.op == "is" {
		return c.holdsIs(isNull, v.Text)
	}
	if isNull && c.op != "isdistinct" {
		return rejects
	}
	order, known := simple[oid]
	if !known || oid != c.oid {
		return undecided
	}
	switch c.op {
	case "eq":
		return resultOf((v.Text == c.values[0]) != c.negate)
	case "neq":
		return resultOf((v.Text != c.values[0]) != c.negate)
	case "isdistinct":
		return resultOf((isNull || v.Text != c.values[0]) != c.negate)
	case "in":
		found := slices.Contains(c.values, v.Text)
		return resultOf((found || !c.null) && found != c.negate)
	case "lt", "lte", "gt", "gte":
		if order.ordered {
			return c.holdsOrder(v.Text)
		}
	}
	return undecided
}

// holdsOrder evaluates lt, lte, gt and gte for integers.
func (c *condition) holdsOrder(text string) filterResult {
	sign, ok := compareIntegers(text, c.values[0])
	if !ok {
		return undecided
	}
	result := (strings.HasPrefix(c.op, "lt") && sign < 0) || (strings.HasPrefix(c.op, "gt") && sign > 0) ||
		(strings.HasSuffix(c.op, "te") && sign == 0)
	return resultOf(result != c.negate)
}

// holdsIs evaluates "is". A value other than null is compared only with columns of type boolean.
func (c *condition) holdsIs(isNull bool, text string) filterResult {
	var result bool
	switch c.value {
	case "null", "unknown":
		result = isNull
	case "true":
		result = !isNull && text == "t"
	case "false":
		result = !isNull && text == "f"
	}
	return resultOf(result != c.negate)
}

func compareIntegers(a, b string) (sign int, ok bool) {
	x, err := strconv.ParseInt(a, 10, 64)
	if err != nil {
		return 0, false
	}
	y, err := strconv.ParseInt(b, 10, 64)
	if err != nil {
		return 0, false
	}
	return cmp.Compare(x, y), true
}

// sqlOperators has the SQL operator of each filter operator that the engine itself may not decide.
var sqlOperators = map[string]string{
	"eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "gt": ">", "gte": ">=",
	"like": "like", "ilike": "ilike", "match": "~", "imatch": "~*", "isdistinct": "is distinct from",
}

// sql returns the condition for a value a and the filter's value b, as an expression.
func (c *condition) sql(a, b string) string {
	expression := a + " = any (" + b + ")" // in
	if operator, ok := sqlOperators[c.op]; ok {
		expression = a + " " + operator + " " + b
	}
	if c.negate {
		return "not (" + expression + ")"
	}
	return expression
}
