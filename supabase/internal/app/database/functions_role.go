package database

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

// FunctionsRole is the role of functions in processes of their own. It is not postgres: it may act
// as anon, as authenticated, and as the roles that the project's config names.
const FunctionsRole = "edge_functions"

// FunctionsURL makes the role of functions, unless it is as it should be, and returns its URL. It
// is one of TCP: the functions may not open Unix sockets.
func FunctionsURL(ctx context.Context, d *Database) (string, error) {
	u := url.URL{Scheme: "postgres", Path: "/" + cmp.Or(d.name, "postgres")}
	password := ""
	if d.embedded != nil {
		password = functionsPassword(d.password)
		u.Host = address(d.embedded.Port())
	} else {
		u = *d.given
		if d.name != "" {
			u.Path = "/" + d.name
		}
		if given, ok := d.given.User.Password(); ok {
			password = functionsPassword(given)
		}
	}
	u.User = url.User(FunctionsRole)
	if password != "" {
		u.User = url.UserPassword(FunctionsRole, password)
	}
	err := pool.WithConn(ctx, d.superuserURL(cmp.Or(d.name, d.databaseName())), func(conn *pgx.Conn) error {
		if err := makeFunctionsRole(ctx, conn, d.Config.EdgeRuntime.MemberRoles()); err != nil || password == "" {
			return err
		}
		return admitFunctions(ctx, conn, d, u.String(), password)
	})
	if err != nil {
		return "", fmt.Errorf("the database role of functions: %w", err)
	}
	return u.String(), nil
}

// functionsPassword derives the password of the functions from that of the other roles, so that all
// servers of a database know it and the functions cannot learn the other.
func functionsPassword(other string) string {
	sum := hmac.New(sha256.New, []byte(other))
	sum.Write([]byte("password of the role " + FunctionsRole))
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// admitFunctions sets the password, unless the role has it. conn is that of a superuser.
func admitFunctions(ctx context.Context, conn *pgx.Conn, d *Database, address, password string) error {
	if d.embedded != nil {
		return d.embedded.SetPasswordsOver(ctx, conn, map[string]string{FunctionsRole: password})
	}
	if probe, err := pgx.Connect(ctx, address); err == nil {
		return probe.Close(ctx)
	}
	return execFormat(ctx, conn, `alter role %I login password %L`, FunctionsRole, password)
}

// execFormat runs a statement that takes no parameters. format quotes them.
func execFormat(ctx context.Context, conn *pgx.Conn, statement string, args ...string) error {
	var sql string
	if err := conn.QueryRow(ctx, `select format($1, variadic $2::text[])`, statement, args).Scan(&sql); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, sql)
	return err
}

// makeFunctionsRole makes the role with the memberships and the first of the roles as its default.
// It writes nothing if all is so, because a start on a full disk must succeed.
func makeFunctionsRole(ctx context.Context, conn *pgx.Conn, roles []string) error {
	var exists bool
	var members []string
	var first string
	err := conn.QueryRow(ctx, `
		select exists (select from pg_roles where rolname = $1 and rolcanlogin),
		       coalesce((select array_agg(g.rolname::text) from pg_auth_members m join pg_roles g on g.oid = m.roleid
		                 where m.member = to_regrole($1)), '{}'),
		       coalesce((select substr(s, 6) from pg_db_role_setting d, unnest(d.setconfig) s
		                 where d.setrole = to_regrole($1) and d.setdatabase = 0 and s like 'role=%'), '')`,
		FunctionsRole).Scan(&exists, &members, &first)
	if err != nil {
		return err
	}
	if !exists {
		if err := execFormat(ctx, conn, `create role %I login`, FunctionsRole); err != nil {
			return err
		}
	}
	wanted := append([]string{"anon", "authenticated"}, roles...)
	for _, role := range wanted {
		if !slices.Contains(members, role) {
			if err := execFormat(ctx, conn, `grant %I to %I`, role, FunctionsRole); err != nil {
				return err
			}
		}
	}
	for _, role := range members {
		if !slices.Contains(wanted, role) {
			if err := execFormat(ctx, conn, `revoke %I from %I`, role, FunctionsRole); err != nil {
				return err
			}
		}
	}
	switch {
	case len(roles) == 0 && first != "":
		return execFormat(ctx, conn, `alter role %I reset role`, FunctionsRole)
	case len(roles) > 0 && first != roles[0]:
		return execFormat(ctx, conn, `alter role %I set role = %L`, FunctionsRole, roles[0])
	}
	return nil
}
