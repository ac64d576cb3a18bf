package logs

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

func unknownFunction(name string) error {
	return fmt.Errorf("the function %s is not supported by this server's logs", name)
}

// aggregates are the functions of a group.
var aggregates = map[string]bool{
	"count": true, "countif": true, "sum": true, "avg": true, "min": true, "max": true, "approx_quantiles": true,
	"any_value": true,
}

// functions are the other functions, with the fewest and the most arguments.
var functions = map[string][2]int{
	"timestamp_trunc": {2, 2}, "date_trunc": {2, 2}, "datetime_trunc": {2, 2}, "timestamp": {1, 1}, "datetime": {1, 1},
	"current_timestamp": {0, 0}, "regexp_contains": {2, 2}, "starts_with": {2, 2}, "lower": {1, 1}, "upper": {1, 1},
	"coalesce": {1, 20}, "ifnull": {2, 2}, "if": {3, 3}, "round": {1, 2}, "concat": {1, 20}, "length": {1, 1},
	"safe_divide": {2, 2}, "split_part": {3, 3}, "offset": {1, 1}, "safe_offset": {1, 1}, "replace": {3, 3},
	"trim": {1, 1}, "substr": {2, 3}, "nullif": {2, 2}, "to_json_string": {1, 1},
}

// isUnit reports whether an argument is a unit of time, which looks like a column.
func isUnit(function string, arg *node) bool {
	return strings.HasSuffix(function, "_trunc") && arg.op == "name" && len(arg.path) == 1
}

// call evaluates a function.
func call(name string, a []any) (any, error) {
	if want := functions[name]; len(a) < want[0] || len(a) > want[1] {
		return nil, fmt.Errorf("the function %s has %d arguments", name, len(a))
	}
	switch name {
	case "coalesce", "ifnull":
		for _, value := range a {
			if value != nil {
				return value, nil
			}
		}
		return nil, nil
	case "if":
		if a[0] == true {
			return a[1], nil
		}
		return a[2], nil
	case "nullif":
		if order, ok := compare(a[0], a[1]); ok && order == 0 {
			return nil, nil
		}
		return a[0], nil
	case "current_timestamp":
		return time.Now().UTC(), nil
	}
	if slices.Contains(a, nil) {
		return nil, nil
	}
	if strings.HasSuffix(name, "_trunc") {
		return trunc(a)
	}
	return callText(name, a)
}

// callText evaluates a function of values that are not null.
func callText(name string, a []any) (any, error) {
	s := text(a[0])
	switch name {
	case "timestamp", "datetime":
		return cast(a[0], name), nil
	case "regexp_contains":
		pattern, err := regexp.Compile(text(a[1]))
		if err != nil {
			return nil, fmt.Errorf("regexp_contains: %w", err)
		}
		return pattern.MatchString(s), nil
	case "starts_with":
		return strings.HasPrefix(s, text(a[1])), nil
	case "lower":
		return strings.ToLower(s), nil
	case "upper":
		return strings.ToUpper(s), nil
	case "trim":
		return strings.TrimSpace(s), nil
	case "length":
		return float64(len([]rune(s))), nil
	case "concat":
		var out strings.Builder
		for _, value := range a {
			out.WriteString(text(value))
		}
		return out.String(), nil
	case "replace":
		return strings.ReplaceAll(s, text(a[1]), text(a[2])), nil
	case "to_json_string":
		return s, nil
	case "split_part":
		parts := strings.Split(s, text(a[1]))
		if n, ok := number(a[2]); ok && n >= 1 && int(n) <= len(parts) {
			return parts[int(n)-1], nil
		}
		return "", nil
	}
	return callNumber(name, a)
}

// callNumber evaluates a function of numbers.
func callNumber(name string, a []any) (any, error) {
	n := make([]float64, len(a))
	for i, value := range a {
		var ok bool
		if n[i], ok = number(value); !ok && (i > 0 || name != "substr") {
			return nil, fmt.Errorf("the function %s needs numbers", name)
		}
	}
	switch name {
	case "offset", "safe_offset":
		return n[0], nil
	case "safe_divide":
		if n[1] == 0 {
			return nil, nil
		}
		return n[0] / n[1], nil
	case "round":
		scale := 1.0
		if len(n) > 1 {
			scale = math.Pow(10, n[1])
		}
		return math.Round(n[0]*scale) / scale, nil
	case "substr":
		runes := []rune(text(a[0]))
		from := min(max(int(n[1])-1, 0), len(runes))
		to := len(runes)
		if len(n) > 2 {
			to = min(from+max(int(n[2]), 0), to)
		}
		return string(runes[from:to]), nil
	}
	return nil, unknownFunction(name)
}

// trunc truncates a time. BigQuery has the unit second, Postgres first.
func trunc(a []any) (any, error) {
	unit, value := text(a[1]), a[0]
	if _, isText := a[0].(string); isText {
		unit, value = text(a[0]), a[1]
	}
	t, ok := toTime(value)
	if !ok {
		return nil, fmt.Errorf("%v is no time", value)
	}
	switch strings.ToLower(unit) {
	case "second":
		return t.Truncate(time.Second), nil
	case "minute":
		return t.Truncate(time.Minute), nil
	case "hour":
		return t.Truncate(time.Hour), nil
	case "day":
		return t.Truncate(24 * time.Hour), nil
	}
	return nil, fmt.Errorf("%q is no unit; use second, minute, hour or day", unit)
}

// cast converts a value; null if that is impossible.
func cast(value any, kind string) any {
	if value == nil {
		return nil
	}
	switch kind {
	case "timestamp", "timestamptz":
		if t, ok := toTime(value); ok {
			return t
		}
		return nil
	case "datetime":
		if t, ok := toTime(value); ok {
			return t.Format("2006-01-02T15:04:05.999999")
		}
		return nil
	case "date":
		if t, ok := toTime(value); ok {
			return t.Format("2006-01-02")
		}
		return nil
	case "int64", "int", "integer", "bigint", "float64", "numeric", "float":
		n, ok := number(value)
		if !ok {
			return nil
		}
		if strings.HasPrefix(kind, "int") || kind == "bigint" {
			return math.Round(n)
		}
		return n
	}
	return text(value)
}

// aggregate evaluates a function over the rows of a group.
func (r rows) aggregate(n *node) (any, error) {
	if r.group == nil {
		return nil, fmt.Errorf("%s is not allowed here", n.text)
	}
	if n.star {
		return float64(r.group.rows), nil
	}
	if len(n.args) == 0 {
		return nil, fmt.Errorf("the function %s has no argument", n.text)
	}
	values := slices.Clone(r.group.values[n])
	if n.distinct {
		seen := map[string]bool{}
		values = slices.DeleteFunc(values, func(v any) bool {
			key := text(v)
			defer func() { seen[key] = true }()
			return seen[key]
		})
	}
	if n.text == "count" || n.text == "countif" {
		return float64(len(values)), nil
	}
	return reduce(n, values)
}

// reduce evaluates a function of values that are not null.
func reduce(n *node, values []any) (any, error) {
	if len(values) == 0 {
		return nil, nil
	}
	switch n.text {
	case "any_value":
		return values[0], nil
	case "min", "max", "approx_quantiles":
		slices.SortFunc(values, func(a, b any) int { order, _ := compare(a, b); return order })
	}
	switch n.text {
	case "min":
		return values[0], nil
	case "max":
		return values[len(values)-1], nil
	case "approx_quantiles":
		count, ok := 0.0, false
		if len(n.args) == 2 {
			count, ok = number(n.args[1].value)
		}
		if !ok || count < 1 || count > 1000 {
			return nil, fmt.Errorf("approx_quantiles needs a number of quantiles from 1 to 1000")
		}
		out := make([]any, int(count)+1)
		for i := range out {
			out[i] = values[int(math.Round(float64(i)/count*float64(len(values)-1)))]
		}
		return out, nil
	}
	sum := 0.0
	for _, value := range values {
		x, ok := number(value)
		if !ok {
			return nil, fmt.Errorf("the function %s needs numbers", n.text)
		}
		sum += x
	}
	if n.text == "avg" {
		return sum / float64(len(values)), nil
	}
	return sum, nil
}
