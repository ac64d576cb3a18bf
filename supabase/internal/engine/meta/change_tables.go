package meta

import (
	"encoding/json"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/catalog"
)

type schema struct {
	Name string `json:"name"`
}

func createSchema(c *change) (json.RawMessage, error) {
	var body struct {
		Name  string  `json:"name"`
		Owner *string `json:"owner"`
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	if err := c.exec("create schema", ident(body.Name), "authorization", ident(or(body.Owner, "postgres"))); err != nil {
		return nil, err
	}
	return c.named(schemas, catalog.Filter{Name: body.Name})
}

func updateSchema(c *change) (json.RawMessage, error) {
	var body struct{ Name, Owner *string }
	var old schema
	if _, err := c.target(schemas, &old); err != nil {
		return nil, err
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	alter := "alter schema " + ident(old.Name)
	if err := inOrder(
		func() error { return c.execIf(body.Owner != nil, alter, "owner to", ident(or(body.Owner, ""))) },
		func() error { return c.execIf(body.Name != nil, alter, "rename to", ident(or(body.Name, ""))) },
	); err != nil {
		return nil, err
	}
	return c.target(schemas, &old)
}

func dropSchema(c *change, old schema) error {
	return c.drop("schema", ident(old.Name))
}

type table struct {
	ID          int64  `json:"id"`
	Schema      string `json:"schema"`
	Name        string `json:"name"`
	PrimaryKeys []struct {
		Name string `json:"name"`
	} `json:"primary_keys"`
}

func (t table) sql() string { return ident(t.Schema, t.Name) }

func createTable(c *change) (json.RawMessage, error) {
	var body struct {
		Name    string  `json:"name"`
		Schema  *string `json:"schema"`
		Comment comment `json:"comment"`
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	t := table{Schema: or(body.Schema, "public"), Name: body.Name}
	if err := inOrder(
		func() error { return c.exec("create table", t.sql(), "()") },
		func() error { return body.Comment.set(c, "table", t.sql()) },
	); err != nil {
		return nil, err
	}
	return c.named(tables, catalog.Filter{Schema: t.Schema, Name: t.Name})
}

// tableUpdate is the body of PATCH /tables/{id}.
type tableUpdate struct {
	Name                 *string `json:"name"`
	Schema               *string `json:"schema"`
	RLSEnabled           *bool   `json:"rls_enabled"`
	RLSForced            *bool   `json:"rls_forced"`
	ReplicaIdentity      *string `json:"replica_identity"`
	ReplicaIdentityIndex *string `json:"replica_identity_index"`
	PrimaryKeys          *[]struct {
		Name string `json:"name"`
	} `json:"primary_keys"`
	Comment comment `json:"comment"`
}

func updateTable(c *change) (json.RawMessage, error) {
	var body tableUpdate
	var old table
	if _, err := c.target(tables, &old); err != nil {
		return nil, err
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	alter := "alter table " + old.sql()
	toggle := func(on *bool, yes, no string) func() error {
		return func() error {
			if !or(on, false) {
				yes = no
			}
			return c.execIf(on != nil, alter, yes, "row level security")
		}
	}
	moved := table{Schema: or(body.Schema, old.Schema), Name: old.Name}
	name := or(body.Name, old.Name)
	if err := inOrder(
		toggle(body.RLSEnabled, "enable", "disable"),
		toggle(body.RLSForced, "force", "no force"),
		func() error { return setReplicaIdentity(c, alter, body) },
		func() error { return setPrimaryKey(c, alter, old, body) },
		func() error { return body.Comment.set(c, "table", old.sql()) },
		func() error { return c.execIf(moved.Schema != old.Schema, alter, "set schema", ident(moved.Schema)) },
		func() error { return c.execIf(name != old.Name, "alter table", moved.sql(), "rename to", ident(name)) },
	); err != nil {
		return nil, err
	}
	return c.target(tables, &old)
}

func setReplicaIdentity(c *change, alter string, body tableUpdate) error {
	if body.ReplicaIdentity == nil {
		return nil
	}
	identity, err := keyword("replica_identity", *body.ReplicaIdentity, "DEFAULT", "INDEX", "FULL", "NOTHING")
	if err != nil {
		return err
	}
	if identity == "INDEX" {
		identity = "using index " + ident(or(body.ReplicaIdentityIndex, ""))
	}
	return c.exec(alter, "replica identity", identity)
}

func setPrimaryKey(c *change, alter string, old table, body tableUpdate) error {
	if body.PrimaryKeys == nil {
		return nil
	}
	name, found, err := c.value("select conname from pg_constraint where contype = 'p' and conrelid = $1::oid",
		strconv.FormatInt(old.ID, 10))
	if err != nil {
		return err
	}
	if err := c.execIf(found, alter, "drop constraint", ident(name)); err != nil {
		return err
	}
	names := make([]string, len(*body.PrimaryKeys))
	for i, k := range *body.PrimaryKeys {
		names[i] = k.Name
	}
	return c.execIf(len(names) > 0, alter, "add primary key (", idents(names), ")")
}

func dropTable(c *change, old table) error { return c.drop("table", old.sql()) }

// typeName returns a type's name for a statement. A name that is a type as it is written, such as
// one with capitals, comes before one that SQL reads as a type, except for char.
func typeName(c *change, name string) (string, error) {
	const sql = `select coalesce(to_regtype(nullif(quote_ident($1), '"char"'))::text || $2,
		case when to_regtype($1 || $2) is not null then $1 || $2 end)`
	base, brackets := strings.CutSuffix(name, "[]")
	suffix := ""
	if brackets {
		suffix = "[]"
	}
	text, found, err := c.value(sql, base, suffix)
	if err == nil && !found {
		err = badRequest(`type "` + name + `" does not exist`)
	}
	return text, err
}
