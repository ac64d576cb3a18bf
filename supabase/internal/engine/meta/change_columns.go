package meta

import (
	"encoding/json"
	"strconv"

	"daawo/supabase/internal/database/catalog"
)

// tableColumn is a column as it was before a change.
type tableColumn struct {
	TableID    int64  `json:"table_id"`
	Schema     string `json:"schema"`
	Table      string `json:"table"`
	Number     int    `json:"ordinal_position"`
	Name       string `json:"name"`
	IsIdentity bool   `json:"is_identity"`
	IsUnique   bool   `json:"is_unique"`
}

// columnBody is the body of a request that makes or changes a column.
type columnBody struct {
	TableID            int64           `json:"table_id"`
	Name               *string         `json:"name"`
	Type               *string         `json:"type"`
	DropDefault        bool            `json:"drop_default"`
	DefaultValue       json.RawMessage `json:"default_value"`
	DefaultValueFormat string          `json:"default_value_format"`
	IsIdentity         *bool           `json:"is_identity"`
	IdentityGeneration *string         `json:"identity_generation"`
	IsNullable         *bool           `json:"is_nullable"`
	IsPrimaryKey       bool            `json:"is_primary_key"`
	IsUnique           *bool           `json:"is_unique"`
	Comment            comment         `json:"comment"`
	Check              json.RawMessage `json:"check"` // an expression; null removes it
}

// defaultSQL returns the expression of the default value.
func (b columnBody) defaultSQL() (string, error) {
	if b.DefaultValueFormat != "expression" {
		return literalOf(b.DefaultValue)
	}
	text, null, err := textParameter(b.DefaultValue)
	if null || err != nil {
		return "NULL", err
	}
	return expression("default_value", text)
}

func (b columnBody) identity() (string, error) {
	return keyword("identity_generation", or(b.IdentityGeneration, "BY DEFAULT"), "BY DEFAULT", "ALWAYS")
}

// check returns the clause of the check; found is false for null and for none.
func (b columnBody) check() (clause string, found bool, err error) {
	if len(b.Check) == 0 || string(b.Check) == "null" {
		return "", false, nil
	}
	var text string
	if err := json.Unmarshal(b.Check, &text); err != nil {
		return "", true, badRequest("body/check must be string")
	}
	clause, err = expression("check", text)
	return "check " + clause, true, err
}

func createColumn(c *change) (json.RawMessage, error) {
	var body columnBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	id := strconv.FormatInt(body.TableID, 10)
	object, err := c.one(tables, tables.byID(id), "with ID "+id)
	if err != nil {
		return nil, err
	}
	var t table
	if err := json.Unmarshal(object, &t); err != nil {
		return nil, err
	}
	definition, err := columnDefinition(c, body)
	if err != nil {
		return nil, err
	}
	name := or(body.Name, "")
	if err := inOrder(
		func() error { return c.exec(append([]string{"alter table", t.sql(), "add column"}, definition...)...) },
		func() error { return body.Comment.set(c, "column", ident(t.Schema, t.Name, name)) },
	); err != nil {
		return nil, err
	}
	return c.named(columns, catalog.Filter{Schema: t.Schema, Table: t.Name, Name: name})
}

// columnDefinition returns the parts of a column's definition.
func columnDefinition(c *change, body columnBody) ([]string, error) {
	kind, err := typeName(c, or(body.Type, ""))
	if err != nil {
		return nil, err
	}
	parts := []string{ident(or(body.Name, "")), kind}
	switch {
	case or(body.IsIdentity, false):
		if len(body.DefaultValue) > 0 {
			return nil, badRequest("Columns cannot both be identity and have a default value")
		}
		generation, err := body.identity()
		if err != nil {
			return nil, err
		}
		parts = append(parts, "generated", generation, "as identity")
	case len(body.DefaultValue) > 0:
		value, err := body.defaultSQL()
		if err != nil {
			return nil, err
		}
		parts = append(parts, "default", value)
	}
	if body.IsNullable != nil {
		parts = append(parts, map[bool]string{true: "null", false: "not null"}[*body.IsNullable])
	}
	if body.IsPrimaryKey {
		parts = append(parts, "primary key")
	}
	if or(body.IsUnique, false) {
		parts = append(parts, "unique")
	}
	check, found, err := body.check()
	if found {
		parts = append(parts, check)
	}
	return parts, err
}

// columnUpdate is a change of a column.
type columnUpdate struct {
	*change
	old         tableColumn
	body        columnBody
	table       string // alter table …
	alter, name string // alter table … alter column …; the column's name
}

func updateColumn(c *change) (json.RawMessage, error) {
	var u columnUpdate
	if _, err := c.target(columns, &u.old); err != nil {
		return nil, err
	}
	if err := c.body(&u.body); err != nil {
		return nil, err
	}
	u.change, u.name = c, ident(u.old.Name)
	u.table = "alter table " + ident(u.old.Schema, u.old.Table)
	u.alter = u.table + " alter column " + u.name
	name := or(u.body.Name, u.old.Name)
	if err := inOrder(u.setNullable, u.setType, u.setDefault, u.setIdentity, u.setUnique,
		func() error {
			return u.body.Comment.set(c, "column", ident(u.old.Schema, u.old.Table, u.old.Name))
		},
		u.setCheck,
		func() error { return c.execIf(name != u.old.Name, u.table, "rename column", u.name, "to", ident(name)) },
	); err != nil {
		return nil, err
	}
	return c.target(columns, &u.old)
}

func (u *columnUpdate) setNullable() error {
	if u.body.IsNullable == nil {
		return nil
	}
	return u.exec(u.alter, map[bool]string{true: "drop", false: "set"}[*u.body.IsNullable], "not null")
}

// setType changes the type and converts the values with a cast.
func (u *columnUpdate) setType() error {
	if u.body.Type == nil {
		return nil
	}
	kind, err := typeName(u.change, *u.body.Type)
	if err != nil {
		return err
	}
	return u.exec(u.alter, "set data type", kind, "using", u.name+"::"+kind)
}

func (u *columnUpdate) setDefault() error {
	if u.body.DropDefault {
		return u.exec(u.alter, "drop default")
	}
	if len(u.body.DefaultValue) == 0 {
		return nil
	}
	value, err := u.body.defaultSQL()
	if err != nil {
		return err
	}
	return u.exec(u.alter, "set default", value)
}

func (u *columnUpdate) setIdentity() error {
	generation, err := u.body.identity()
	switch wanted := u.body.IsIdentity; {
	case err != nil:
		return err
	case wanted != nil && !*wanted:
		return u.exec(u.alter, "drop identity if exists")
	case u.old.IsIdentity:
		return u.execIf(wanted != nil || u.body.IdentityGeneration != nil, u.alter, "set generated", generation)
	default:
		return u.execIf(wanted != nil, u.alter, "add generated", generation, "as identity")
	}
}

// constraint returns the name of a constraint of this column alone.
func (u *columnUpdate) constraint(kind string) (string, bool, error) {
	return u.value(`select conname from pg_constraint
		where contype = $1::"char" and conrelid = $2::oid and conkey = array[$3::int2] order by oid limit 1`,
		kind, strconv.FormatInt(u.old.TableID, 10), strconv.Itoa(u.old.Number))
}

func (u *columnUpdate) setUnique() error {
	if u.body.IsUnique == nil || *u.body.IsUnique == u.old.IsUnique {
		return nil
	}
	if *u.body.IsUnique {
		return u.exec(u.table, "add unique (", u.name, ")")
	}
	for {
		name, found, err := u.constraint("u")
		if err != nil || !found {
			return err
		}
		if err := u.exec(u.table, "drop constraint", ident(name)); err != nil {
			return err
		}
	}
}

// setCheck replaces the first check of this column alone. The new one may not use other columns.
func (u *columnUpdate) setCheck() error {
	if len(u.body.Check) == 0 {
		return nil
	}
	name, found, err := u.constraint("c")
	if err != nil {
		return err
	}
	if err := u.execIf(found, u.table, "drop constraint", ident(name)); err != nil {
		return err
	}
	check, wanted, err := u.body.check()
	if err != nil || !wanted {
		return err
	}
	added := u.old.Table + "_" + u.old.Name + "_check"
	if err := u.exec(u.table, "add constraint", ident(added), check); err != nil {
		return err
	}
	switch _, found, err := u.constraint("c"); {
	case err != nil:
		return err
	case !found:
		return badRequest("error creating column constraint: check condition must refer to this column alone")
	}
	return nil
}

func dropColumn(c *change, old tableColumn) error {
	behavior, err := c.behavior()
	if err != nil {
		return err
	}
	return c.exec("alter table", ident(old.Schema, old.Table), "drop column", ident(old.Name), behavior)
}
