package meta

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/catalog"
	"daawo/supabase/internal/database/pool"
)

// policy is a policy as it was before a change.
type policy struct{ Name, Schema, Table string }

// policyBody is the body of a request that makes or changes a policy.
type policyBody struct {
	Name       *string   `json:"name"`
	Table      string    `json:"table"`
	Schema     *string   `json:"schema"`
	Definition *string   `json:"definition"`
	Check      *string   `json:"check"`
	Action     *string   `json:"action"`
	Command    *string   `json:"command"`
	Roles      *[]string `json:"roles"`
}

func (b policyBody) roles() string {
	names := or(b.Roles, []string{"public"})
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = grantee(name)
	}
	return strings.Join(quoted, ", ")
}

// expressions returns the clauses of the policy's expressions, "" without one.
func (b policyBody) expressions() (using, check string, err error) {
	if b.Definition != nil {
		if using, err = expression("definition", *b.Definition); err != nil {
			return "", "", err
		}
		using = "using " + using
	}
	if b.Check != nil {
		if check, err = expression("check", *b.Check); err != nil {
			return "", "", err
		}
		check = "with check " + check
	}
	return using, check, nil
}

func createPolicy(c *change) (json.RawMessage, error) {
	var body policyBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	action, err := keyword("action", or(body.Action, "PERMISSIVE"), "PERMISSIVE", "RESTRICTIVE")
	if err != nil {
		return nil, err
	}
	command, err := keyword("command", or(body.Command, "ALL"), "ALL", "SELECT", "INSERT", "UPDATE", "DELETE")
	if err != nil {
		return nil, err
	}
	name, schema := or(body.Name, ""), or(body.Schema, "public")
	using, check, err := body.expressions()
	if err != nil {
		return nil, err
	}
	if err := c.exec("create policy", ident(name), "on", ident(schema, body.Table), "as", action, "for", command,
		"to", body.roles(), using, check); err != nil {
		return nil, err
	}
	return c.named(policies, catalog.Filter{Schema: schema, Table: body.Table, Name: name})
}

func updatePolicy(c *change) (json.RawMessage, error) {
	var body policyBody
	var old policy
	if _, err := c.target(policies, &old); err != nil {
		return nil, err
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	using, check, err := body.expressions()
	if err != nil {
		return nil, err
	}
	alter := "alter policy " + ident(old.Name) + " on " + ident(old.Schema, old.Table)
	name := or(body.Name, old.Name)
	if err := inOrder(
		func() error { return c.execIf(using != "", alter, using) },
		func() error { return c.execIf(check != "", alter, check) },
		func() error { return c.execIf(body.Roles != nil, alter, "to", body.roles()) },
		func() error { return c.execIf(name != old.Name, alter, "rename to", ident(name)) },
	); err != nil {
		return nil, err
	}
	return c.target(policies, &old)
}

func dropPolicy(c *change, old policy) error {
	return c.exec("drop policy", ident(old.Name), "on", ident(old.Schema, old.Table))
}

// role is a role as it was before a change.
type role struct{ Name string }

// roleBody is the body of a request that makes or changes a role.
type roleBody struct {
	Name            *string         `json:"name"`
	IsSuperuser     *bool           `json:"is_superuser"`
	CanCreateDB     *bool           `json:"can_create_db"`
	CanCreateRole   *bool           `json:"can_create_role"`
	InheritRole     *bool           `json:"inherit_role"`
	CanLogin        *bool           `json:"can_login"`
	IsReplication   *bool           `json:"is_replication_role"`
	CanBypassRLS    *bool           `json:"can_bypass_rls"`
	ConnectionLimit *int            `json:"connection_limit"`
	Password        *string         `json:"password"`
	ValidUntil      *string         `json:"valid_until"`
	MemberOf        []string        `json:"member_of"`
	Members         []string        `json:"members"`
	Admins          []string        `json:"admins"`
	Config          json.RawMessage `json:"config"`
}

// options returns the options of create role and alter role.
func (b roleBody) options() (parts []string) {
	for _, o := range []struct {
		on   *bool
		name string
	}{{b.IsSuperuser, "superuser"}, {b.CanCreateDB, "createdb"}, {b.CanCreateRole, "createrole"},
		{b.InheritRole, "inherit"}, {b.CanLogin, "login"}, {b.IsReplication, "replication"},
		{b.CanBypassRLS, "bypassrls"}} {
		switch {
		case o.on == nil:
		case *o.on:
			parts = append(parts, o.name)
		default:
			parts = append(parts, "no"+o.name)
		}
	}
	if b.ConnectionLimit != nil {
		parts = append(parts, "connection limit", strconv.Itoa(*b.ConnectionLimit))
	}
	if b.Password != nil {
		parts = append(parts, "password", literal(*b.Password))
	}
	if b.ValidUntil != nil {
		parts = append(parts, "valid until", literal(*b.ValidUntil))
	}
	return parts
}

// memberships returns the options of create role that alter role does not have.
func (b roleBody) memberships() (parts []string) {
	for _, list := range []struct {
		name  string
		roles []string
	}{{"in role", b.MemberOf}, {"role", b.Members}, {"admin", b.Admins}} {
		if len(list.roles) > 0 {
			parts = append(parts, list.name, idents(list.roles))
		}
	}
	return parts
}

func createRole(c *change) (json.RawMessage, error) {
	var body roleBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	var config settings
	if len(body.Config) > 0 {
		if err := json.Unmarshal(body.Config, &config); err != nil {
			return nil, badRequest("body/config must be object")
		}
	}
	name := or(body.Name, "")
	parts := slices.Concat([]string{"create role", ident(name)}, body.options(), body.memberships())
	if err := c.exec(parts...); err != nil {
		return nil, err
	}
	for _, s := range config {
		err := c.exec("alter role", ident(name), "set", setting(s.name), "to", settingValue(s.name, s.value))
		if err != nil {
			return nil, err
		}
	}
	return c.named(roles, catalog.Filter{Name: name})
}

func updateRole(c *change) (json.RawMessage, error) {
	var body roleBody
	var old role
	if _, err := c.target(roles, &old); err != nil {
		return nil, err
	}
	if err := c.body(&body); err != nil {
		return nil, err
	}
	var steps []struct{ Op, Path, Value string }
	if len(body.Config) > 0 {
		if err := json.Unmarshal(body.Config, &steps); err != nil {
			return nil, badRequest("body/config must be array")
		}
	}
	alter := "alter role " + ident(old.Name)
	if options := body.options(); len(options) > 0 {
		if err := c.exec(append([]string{alter}, options...)...); err != nil {
			return nil, err
		}
	}
	for _, s := range steps {
		op, err := keyword("config/op", s.Op, "add", "replace", "remove")
		if err != nil {
			return nil, err
		}
		action := []string{alter, "set", setting(s.Path), "to", settingValue(s.Path, s.Value)}
		if op == "remove" {
			action = []string{alter, "reset", setting(s.Path)}
		}
		if err := c.exec(action...); err != nil {
			return nil, err
		}
	}
	name := or(body.Name, old.Name)
	if err := c.execIf(name != old.Name, alter, "rename to", ident(name)); err != nil {
		return nil, err
	}
	return c.target(roles, &old)
}

func dropRole(c *change, old role) error { return c.exec("drop role", ident(old.Name)) }

// grant is a privilege that a request grants or revokes, on a relation or a column.
type grant struct {
	Relation    json.Number `json:"relation_id"`
	Column      string      `json:"column_id"`
	Grantee     string      `json:"grantee"`
	Privilege   string      `json:"privilege_type"`
	IsGrantable bool        `json:"is_grantable"`
}

func grantTables(c *change) (json.RawMessage, error)   { return setPrivileges(c, "grant", false) }
func revokeTables(c *change) (json.RawMessage, error)  { return setPrivileges(c, "revoke", false) }
func grantColumns(c *change) (json.RawMessage, error)  { return setPrivileges(c, "grant", true) }
func revokeColumns(c *change) (json.RawMessage, error) { return setPrivileges(c, "revoke", true) }

// setPrivileges grants or revokes a list of privileges and returns the privileges of their objects.
func setPrivileges(c *change, verb string, onColumns bool) (json.RawMessage, error) {
	var grants []grant
	if err := c.body(&grants); err != nil {
		return nil, err
	}
	list, allowed := catalog.TablePrivileges, []string{"ALL", "SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE",
		"REFERENCES", "TRIGGER", "MAINTAIN"}
	if onColumns {
		list, allowed = catalog.ColumnPrivileges, []string{"ALL", "SELECT", "INSERT", "UPDATE", "REFERENCES"}
	}
	var ids []string
	for _, g := range grants {
		privilege, err := keyword("privilege_type", g.Privilege, allowed...)
		if err != nil {
			return nil, err
		}
		id, column := g.Relation.String(), ""
		if onColumns {
			if column, err = columnName(c, g.Column); err != nil {
				return nil, err
			}
			id, _, _ = strings.Cut(g.Column, ".")
			ids = append(ids, g.Column)
		} else {
			ids = append(ids, id)
		}
		relation, found, err := c.value(`select format('%I.%I', n.nspname, c.relname)
			from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = $1::oid`, id)
		if err == nil && !found {
			err = badRequest(fmt.Sprintf("relation with ID %s does not exist", id))
		}
		if err != nil {
			return nil, err
		}
		parts := []string{verb, privilege, column, "on table", relation, "from", grantee(g.Grantee)}
		if verb == "grant" {
			parts[5] = "to"
			if g.IsGrantable {
				parts = append(parts, "with grant option")
			}
		}
		if err := c.exec(parts...); err != nil {
			return nil, err
		}
	}
	if len(ids) == 0 {
		return json.RawMessage("[]"), nil
	}
	lists, err := catalog.Read(c.ctx, pool.Unprepared(c.conn), list(catalog.Filter{IDs: ids}))
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

// columnName returns the name of a column for a grant, in parentheses.
func columnName(c *change, id string) (string, error) {
	table, number, _ := strings.Cut(id, ".")
	name, found, err := c.value("select attname from pg_attribute where attrelid = $1::oid and attnum = $2::int2",
		table, number)
	if err == nil && !found {
		err = badRequest(fmt.Sprintf("column with ID %s does not exist", id))
	}
	return "(" + ident(name) + ")", err
}
