package acceptance

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/server"
)

// laterRoles are what later releases of supabase/postgres have in addition to upstreamRoles.
const laterRoles = `
	create role supabase_realtime_admin noinherit createrole login replication;
	alter role supabase_realtime_admin set search_path = realtime;
	grant all on schema realtime to supabase_realtime_admin with grant option;`

// formerRealtime is what a release of ours left that ran Realtime as supabase_admin.
const formerRealtime = `create schema if not exists _realtime; create table _realtime.tenants (id int);`

// asRealtime are statements of Realtime that need rights: it reads changes, keeps partitions and
// its ledger, migrates both schemas and acts as the role of a token.
var asRealtime = []string{
	`select pg_create_logical_replication_slot('roles_test', 'pgoutput', true)`,
	`select * from realtime.list_changes('supabase_realtime', 'roles_test', 10, 1048576)`,
	`create table realtime.messages_2001_02_03 partition of realtime.messages for values from ('2001-02-03') to ('2001-02-04')`,
	`drop table realtime.messages_2001_02_03`,
	`begin; lock table realtime.schema_migrations in share update exclusive mode; commit`,
	`insert into realtime.schema_migrations (version) values (99991231000000); alter table realtime.messages add column later int`,
	`alter table _realtime.tenants add column name text; create table _realtime.extensions (id int)`,
	`insert into realtime.subscription (subscription_id, entity, claims) values (gen_random_uuid(), 'realtime.messages', '{"role": "anon"}')`,
	`select set_config('role', 'authenticated', true), set_config('role', 'service_role', true)`,
}

// TestComposeRoles runs the script of the service roles on a database with only the roles of
// supabase/postgres, twice, as two starts do. Each role with a password can sign in then, and
// Realtime needs no superuser.
func TestComposeRoles(t *testing.T) {
	for name, before := range map[string]string{
		"no realtime role":      upstreamRoles,
		"realtime role":         upstreamRoles + laterRoles,
		"realtime as superuser": upstreamRoles + formerRealtime,
	} {
		t.Run(name, func(t *testing.T) {
			pg := otherServer(t)
			superuser := pg.URL(server.Superuser)
			query(t, superuser, before)
			environment := map[string]string{"POSTGRES_PASSWORD": "it's a secret", "JWT_EXPIRY": "3600"}
			for range 2 {
				runScript(t, superuser, environment, "roles.sql")
			}
			for _, role := range []string{"postgres", "authenticator", "supabase_admin", "supabase_auth_admin",
				"supabase_storage_admin", "supabase_realtime_admin", "pgbouncer", "supavisor", "daawo_transfer"} {
				query(t, signIn(pg, role, environment["POSTGRES_PASSWORD"]), `select 1`)
			}
			realtime := signIn(pg, "supabase_realtime_admin", environment["POSTGRES_PASSWORD"])
			query(t, realtime, `create table if not exists _realtime.tenants (id int)`)
			for _, sql := range asRealtime {
				query(t, realtime, sql)
			}
			if got := query(t, superuser,
				`select rolsuper or rolbypassrls from pg_roles where rolname = 'supabase_realtime_admin'`); got != "f" {
				t.Error("supabase_realtime_admin is a superuser or bypasses row level security")
			}
			runScript(t, superuser, environment, "roles.sql") // at each docker compose up
		})
	}
}

// signIn returns the address of a server for a role with its password, over TCP as in the
// containers.
func signIn(server *server.Server, role, password string) string {
	u, _ := url.Parse(server.TCPURL(role)) // made by url.URL
	u.User = url.UserPassword(role, password)
	return u.String()
}

// psql interprets the part of psql's language that the scripts of docker/volumes/db use.
type psql struct {
	t           *testing.T
	conn        *pgx.Conn
	environment map[string]string
	variables   map[string]string
	skipping    bool // after \if with a false condition
}

// runScript runs a script of docker/volumes/db, as the service roles does.
func runScript(t *testing.T, address string, environment map[string]string, script string) {
	t.Helper()
	p := &psql{t: t, environment: environment, variables: map[string]string{}}
	p.connect(address)
	defer func() { _ = p.conn.Close(context.WithoutCancel(t.Context())) }()
	p.file(filepath.Join("../../docker/volumes/db", script))
}

func (p *psql) connect(address string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.conn = conn
}

func (p *psql) file(name string) {
	p.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		p.t.Fatal(err)
	}
	var statement strings.Builder
	for line := range strings.Lines(string(text)) {
		command, isCommand := strings.CutPrefix(strings.TrimSpace(line), `\`)
		if !isCommand {
			statement.WriteString(line)
		}
		sql := strings.TrimSpace(statement.String())
		complete := strings.HasSuffix(sql, ";") && strings.Count(sql, "$$")%2 == 0
		switch {
		case isCommand:
			p.command(filepath.Dir(name), strings.Fields(command), sql)
		case !complete:
			continue
		default:
			p.run(sql)
		}
		statement.Reset()
	}
}

// command runs a backslash command. sql is the statement before it.
func (p *psql) command(folder string, words []string, sql string) {
	p.t.Helper()
	switch word := words[0]; {
	case word == "endif":
		p.skipping = false
	case p.skipping:
	case word == "if":
		p.skipping = p.substitute(words[1]) != "t"
	case word == "set":
		p.variables[words[1]] = words[2]
	case word == "getenv":
		p.variables[words[1]] = p.environment[words[2]]
	case word == "gexec":
		for _, line := range p.rows(sql) {
			p.run(line[0].(string))
		}
	case word == "gset":
		rows, err := p.conn.Query(p.t.Context(), p.substitute(sql), pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			p.t.Fatal(err)
		}
		name := rows.FieldDescriptions()[0].Name
		value, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
		if err != nil {
			p.t.Fatalf("%s: %v", sql, err)
		}
		p.variables[name] = map[bool]string{true: "t", false: "f"}[value]
	case word == "ir":
		p.file(filepath.Join(folder, words[1]))
	case word == "i": // mounted by docker/compose.yaml
		p.file(filepath.Join("../internal/database/migrate", words[1]))
	case word == "connect":
		config := p.conn.Config().Copy()
		config.Database = words[1]
		conn, err := pgx.ConnectConfig(p.t.Context(), config)
		if err := errors.Join(err, p.conn.Close(p.t.Context())); err != nil {
			p.t.Fatal(err)
		}
		p.conn = conn
	default:
		p.t.Fatalf("unknown command of psql: %v", words)
	}
}

var psqlVariable = regexp.MustCompile(`:'?\b([a-z_]+)'?`)

// substitute replaces :name and :'name'. It leaves casts and unknown names.
func (p *psql) substitute(sql string) string {
	return psqlVariable.ReplaceAllStringFunc(sql, func(found string) string {
		value, ok := p.variables[strings.Trim(found, ":'")]
		if !ok {
			return found
		}
		if strings.HasPrefix(found, ":'") {
			return "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
		return value
	})
}

func (p *psql) run(sql string) {
	p.t.Helper()
	if p.skipping {
		return
	}
	if _, err := p.conn.Exec(p.t.Context(), p.substitute(sql), pgx.QueryExecModeSimpleProtocol); err != nil {
		p.t.Fatalf("%.300s: %v", sql, err)
	}
}

func (p *psql) rows(sql string) [][]any {
	p.t.Helper()
	rows, err := p.conn.Query(p.t.Context(), p.substitute(sql), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		p.t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	if err != nil {
		p.t.Fatalf("%.300s: %v", sql, err)
	}
	return list
}
