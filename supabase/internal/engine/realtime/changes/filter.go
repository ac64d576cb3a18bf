package changes

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// filter is one condition of a binding.
type filter struct {
	column string
	op     string
	value  string // for in: an array in Postgres' text form
	negate bool
}

var operators = []string{"eq", "neq", "lt", "lte", "gt", "gte", "in", "like", "ilike", "is", "match", "imatch",
	"isdistinct"}

// parseFilters parses conditions such as "id=gt.5,name=not.in.(a,b)". All must hold. A blank text
// has none.
func parseFilters(text string) ([]filter, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var filters []filter
	for _, part := range splitConditions(strings.TrimSpace(text)) {
		f, err := parseFilter(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		filters = append(filters, f)
	}
	return filters, nil
}

// splitConditions splits at the commas outside of parentheses and quotes. A quote starts after ".",
// "(" or ",". Inside of quotes a backslash escapes the next byte.
func splitConditions(text string) (parts []string) {
	depth, quoted, start := 0, false, 0
	previous := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\' && i+1 < len(text):
			i++
			c = text[i]
		case quoted:
			quoted = c != '"'
		case c == '"' && (previous == '.' || previous == '(' || previous == ','):
			quoted = true
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
		case c == ',' && depth == 0:
			parts, start, c = append(parts, text[start:i]), i+1, 0
		}
		previous = c
	}
	return append(parts, text[start:])
}

// parseFilter parses one condition. Its errors have upstream's texts.
func parseFilter(text string) (f filter, err error) {
	if text == "" {
		return f, errors.New("filter must not contain empty segments (check for extra commas)")
	}
	column, rest, ok := strings.Cut(text, "=")
	if !ok {
		return f, errors.New(inspect([]any{text}))
	}
	rest, negate := strings.CutPrefix(rest, "not.")
	op, value, ok := strings.Cut(rest, ".")
	if !ok {
		return f, errors.New(inspect([]any{rest}))
	}
	if !slices.Contains(operators, op) {
		return f, errors.New(inspect([]any{op, value}))
	}
	if op == "in" {
		if len(value) < 2 || value[0] != '(' || value[len(value)-1] != ')' {
			return f, errors.New("`in` filter value must be wrapped by parentheses")
		}
		value = "{" + value[1:len(value)-1] + "}"
	} else {
		value = unquote(value)
	}
	return filter{column, op, value, negate}, nil
}

// unquote removes the quotes around a value and the backslashes in it. A text that is not quoted as
// a whole stays.
func unquote(text string) string {
	if !strings.HasPrefix(text, `"`) {
		return text
	}
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '"' && i == len(text)-1:
			return out.String()
		case text[i] == '"':
			return text
		case text[i] == '\\' && i+1 < len(text):
			i++
			fallthrough
		default:
			out.WriteByte(text[i])
		}
	}
	return text
}

// String returns the condition as upstream shows it in errors.
func (f filter) String() string {
	return fmt.Sprintf("{%s, %s, %s, %t}", strconv.Quote(f.column), strconv.Quote(f.op), strconv.Quote(f.value),
		f.negate)
}

const noParams = "No subscription params provided. Please provide at least a `schema` or `table` to subscribe to: "

// ParseBinding reads an entry of postgres_changes, a JSON value as the client sent it. Its errors
// are of type *SubscribeError and have upstream's texts. id becomes the binding's ID.
func ParseBinding(id int64, raw json.RawMessage) (Binding, error) {
	b := Binding{ID: id, Event: "*", Table: "*", Schema: "public"}
	var entry any
	if err := json.Unmarshal(raw, &entry); err != nil {
		return b, &SubscribeError{noParams + "invalid JSON"}
	}
	params, ok := entry.(map[string]any)
	if !ok {
		return b, &SubscribeError{noParams + inspect(entry)}
	}
	b.setEvent(params["event"])
	if _, text := params["select"].(string); text {
		return b, &SubscribeError{"Error parsing `select` params: expected a list of column name strings, " +
			`e.g. select: ["col1", "col2"]`}
	}
	columns, isList := params["select"].([]any)
	if isList {
		b.Select = []string{}
	}
	for _, c := range columns {
		if name, ok := c.(string); ok {
			b.Select = append(b.Select, name)
		}
	}
	if !b.setTable(params) {
		shown := inspect(params)
		if params["user_token"] != nil || params["auth_token"] != nil {
			shown = "<redacted>"
		}
		return b, &SubscribeError{noParams + shown}
	}
	if _, err := parseFilters(b.Filter); err != nil {
		return b, &SubscribeError{"Error parsing `filter` params: " + err.Error()}
	}
	if wildcard := b.Schema == "*" || b.Table == "*"; wildcard && len(b.Select) == 0 {
		b.Select = nil
	} else if wildcard {
		return b, &SubscribeError{"Column selection is not supported for wildcard subscriptions. " +
			"Provide an explicit schema and table name."}
	}
	return b, nil
}

// setEvent sets the event, unless it is not one that clients can choose.
func (b *Binding) setEvent(value any) {
	event, _ := value.(string)
	if event = strings.ToUpper(event); event == kindInsert || event == kindUpdate || event == kindDelete {
		b.Event = event
	}
}

// setTable sets the schema, the table and the filter. It returns false if they are not of a form
// that upstream accepts.
func (b *Binding) setTable(params map[string]any) bool {
	schema, hasSchema := params["schema"]
	table, hasTable := params["table"]
	text, hasFilter := params["filter"]
	schemaName, schemaOK := schema.(string)
	tableName, tableOK := table.(string)
	filterText, filterOK := text.(string)
	switch {
	case schemaOK && tableOK && (filterOK || !hasFilter):
		b.Schema, b.Table, b.Filter = schemaName, tableName, filterText
	case schemaOK && !hasTable && !hasFilter:
		b.Schema = schemaName
	case tableOK && !hasSchema && !hasFilter:
		b.Table = tableName
	default:
		return false
	}
	return true
}

// inspect returns a value of JSON as upstream's errors show it.
func inspect(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = inspect(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		parts := make([]string, 0, len(v))
		for key, e := range v {
			parts = append(parts, strconv.Quote(key)+" => "+inspect(e))
		}
		slices.Sort(parts)
		return "%{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}
