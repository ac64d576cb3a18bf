package meta

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/catalog"
)

// function is a function as it was before a change, or the body of a request.
type function struct {
	ID              int64    `json:"id"`
	Name            *string  `json:"name"`
	Schema          *string  `json:"schema"`
	Args            []string `json:"-"`
	Arguments       string   `json:"argument_types"`
	Identity        string   `json:"identity_argument_types"`
	Definition      *string  `json:"definition"`
	ReturnType      *string  `json:"return_type"`
	Language        *string  `json:"language"`
	Behavior        *string  `json:"behavior"`
	SecurityDefiner bool     `json:"security_definer"`
	Config          settings `json:"config_params"`
}

// settings are the members of an object in their order.
type settings []struct{ name, value string }

// UnmarshalJSON reads an object of strings, numbers and booleans, or null.
func (s *settings) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open == nil {
		return err
	} else if open != json.Delim('{') {
		return errors.New("must be object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		value, _, err := textParameter(raw)
		if err != nil {
			return err
		}
		*s = append(*s, struct{ name, value string }{name.(string), value}) // JSON's names are strings
	}
	return nil
}

// signature names the function in a statement.
func (f function) signature() string {
	return ident(or(f.Schema, "public"), or(f.Name, "")) + "(" + f.Identity + ")"
}

// create makes or replaces the function. traits are further parts of its definition.
func (f function) create(c *change, verb string, traits ...string) error {
	behavior, err := keyword("behavior", or(f.Behavior, "VOLATILE"), "IMMUTABLE", "STABLE", "VOLATILE")
	if err != nil {
		return err
	}
	security := "security invoker"
	if f.SecurityDefiner {
		security = "security definer"
	}
	arguments, err := expression("args", f.Arguments)
	if err != nil {
		return err
	}
	if !balanced(or(f.ReturnType, "")) {
		return badRequest("body/return_type: a parenthesis, a quote or a comment is not closed")
	}
	parts := []string{verb, ident(or(f.Schema, "public"), or(f.Name, "")), arguments,
		"returns", or(f.ReturnType, "void"), "as", literalOr(f.Definition),
		"language", ident(strings.ToLower(or(f.Language, "sql"))), behavior, security}
	parts = append(parts, traits...)
	for _, s := range f.Config {
		parts = append(parts, "set", setting(s.name), "to", settingValue(s.name, s.value))
	}
	return c.exec(parts...)
}

func createFunction(c *change) (json.RawMessage, error) {
	var body struct {
		function
		Args []string `json:"args"`
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	body.Arguments = strings.Join(body.Args, ", ")
	if err := body.create(c, "create function"); err != nil {
		return nil, err
	}
	// of the functions with this name, the one that this transaction made
	id, _, err := c.value(`select oid from pg_proc
		where proname = $1 and pronamespace = quote_ident($2)::regnamespace
		  and xmin::text = pg_current_xact_id()::xid::text`, or(body.Name, ""), or(body.Schema, "public"))
	if err != nil {
		return nil, err
	}
	return c.one(functions, functions.byID(id), "with ID "+id)
}

func updateFunction(c *change) (json.RawMessage, error) {
	var body struct{ Name, Schema, Definition *string }
	var old function
	if _, err := c.target(functions, &old); err != nil {
		return nil, err
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	moved := old
	if body.Name != nil {
		moved.Name = body.Name
	}
	if err := inOrder(
		func() error { return redefine(c, old, body.Definition) },
		func() error {
			return c.execIf(*moved.Name != *old.Name, "alter function", old.signature(), "rename to",
				ident(*moved.Name))
		},
		func() error {
			schema := or(body.Schema, *old.Schema)
			return c.execIf(schema != *old.Schema, "alter function", moved.signature(), "set schema", ident(schema))
		},
	); err != nil {
		return nil, err
	}
	return c.target(functions, &old)
}

// redefine replaces the body of a function and keeps its other properties.
func redefine(c *change, f function, definition *string) error {
	if definition == nil {
		return nil
	}
	traits, _, err := c.value(`select concat_ws(' ', case when proisstrict then 'strict' end,
		case when proleakproof then 'leakproof' end, 'cost ' || procost,
		case when proretset then 'rows ' || prorows end,
		'parallel ' || case proparallel when 's' then 'safe' when 'r' then 'restricted' else 'unsafe' end)
		from pg_proc where oid = $1::oid`, strconv.FormatInt(f.ID, 10))
	if err != nil {
		return err
	}
	f.Definition = definition
	return f.create(c, "create or replace function", traits)
}

func dropFunction(c *change, old function) error {
	return c.drop("function", old.signature())
}

// setting returns the name of a setting, which may have a prefix.
func setting(name string) string { return ident(strings.Split(name, ".")...) }

// nameLists are the settings that Postgres stores as a list of quoted names.
var nameLists = []string{"search_path", "temp_tablespaces", "local_preload_libraries", "session_preload_libraries",
	"shared_preload_libraries", "unix_socket_directories"}

// nameItem matches an item of a list of names: in quotes, or up to the next comma.
var nameItem = regexp.MustCompile(`\s*(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'|([^,]*?))\s*(?:,|$)`)

// names returns the names of a list. plain converts those without quotes.
func names(text string, plain func(string) string) (list []string) {
	for rest := text + ","; rest != ""; {
		m := nameItem.FindStringSubmatch(rest)
		name := strings.ReplaceAll(m[1], `""`, `"`) + strings.ReplaceAll(m[2], "''", "'") + plain(m[3])
		list, rest = append(list, name), rest[len(m[0]):]
	}
	return list
}

// settingValue returns a setting's value: literals for a list of names, otherwise one literal.
func settingValue(name, text string) string {
	if !slices.Contains(nameLists, strings.ToLower(name)) {
		return literal(text)
	}
	items := names(text, strings.Clone)
	for i, item := range items {
		items[i] = literal(item)
	}
	return strings.Join(items, ", ")
}

// trigger is a trigger as it was before a change.
type trigger struct{ Name, Schema, Table string }

func createTrigger(c *change) (json.RawMessage, error) {
	var body struct {
		Name           string   `json:"name"`
		Schema         *string  `json:"schema"`
		Table          string   `json:"table"`
		FunctionSchema *string  `json:"function_schema"`
		FunctionName   string   `json:"function_name"`
		FunctionArgs   []string `json:"function_args"`
		Activation     string   `json:"activation"`
		Events         []string `json:"events"`
		Orientation    *string  `json:"orientation"`
		Condition      *string  `json:"condition"`
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	activation, err := keyword("activation", body.Activation, "BEFORE", "AFTER", "INSTEAD OF")
	if err != nil {
		return nil, err
	}
	orientation, err := keyword("orientation", or(body.Orientation, "STATEMENT"), "ROW", "STATEMENT")
	if err != nil {
		return nil, err
	}
	events := make([]string, len(body.Events))
	for i, event := range body.Events {
		if events[i], err = triggerEvent(event); err != nil {
			return nil, err
		}
	}
	args := make([]string, len(body.FunctionArgs))
	for i, arg := range body.FunctionArgs {
		args[i] = literal(arg)
	}
	condition := ""
	if or(body.Condition, "") != "" {
		if condition, err = expression("condition", *body.Condition); err != nil {
			return nil, err
		}
		condition = "when " + condition
	}
	schema := or(body.Schema, "public")
	if err := c.exec("create trigger", ident(body.Name), activation, strings.Join(events, " or "),
		"on", ident(schema, body.Table), "for each", orientation, condition, "execute function",
		ident(or(body.FunctionSchema, "public"), body.FunctionName), "("+strings.Join(args, ", ")+")"); err != nil {
		return nil, err
	}
	return c.named(triggers, catalog.Filter{Schema: schema, Table: body.Table, Name: body.Name})
}

var updateOf = regexp.MustCompile(`(?is)^\s*update\s+of\s+(.+)$`)

// triggerEvent returns an event of a trigger, such as INSERT or UPDATE OF a, b.
func triggerEvent(text string) (string, error) {
	m := updateOf.FindStringSubmatch(text)
	if m == nil {
		return keyword("events", strings.TrimSpace(text), "INSERT", "UPDATE", "DELETE", "TRUNCATE")
	}
	return "UPDATE OF " + idents(names(m[1], strings.ToLower)), nil
}

func updateTrigger(c *change) (json.RawMessage, error) {
	var body struct {
		Name        *string `json:"name"`
		EnabledMode *string `json:"enabled_mode"`
	}
	var old trigger
	if _, err := c.target(triggers, &old); err != nil {
		return nil, err
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	on := ident(old.Schema, old.Table)
	if body.EnabledMode != nil {
		mode, err := keyword("enabled_mode", *body.EnabledMode, "ORIGIN", "REPLICA", "ALWAYS", "DISABLED")
		if err != nil {
			return nil, err
		}
		verb := map[string]string{"ORIGIN": "enable", "REPLICA": "enable replica", "ALWAYS": "enable always",
			"DISABLED": "disable"}[mode]
		if err := c.exec("alter table", on, verb, "trigger", ident(old.Name)); err != nil {
			return nil, err
		}
	}
	name := or(body.Name, old.Name)
	if err := c.execIf(name != old.Name, "alter trigger", ident(old.Name), "on", on, "rename to",
		ident(name)); err != nil {
		return nil, err
	}
	return c.target(triggers, &old)
}

func dropTrigger(c *change, old trigger) error {
	return c.drop("trigger", ident(old.Name), "on", ident(old.Schema, old.Table))
}
