package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/jackc/pgx/v5"
)

// server is a Postgres with extensions in C. Each project gets a new database there, and the roles
// that it leaves are dropped.
type server struct {
	admin    *pgx.Conn
	url      *url.URL // of the projects' database
	database string
	roles    []string // those that the server had before
}

// openServer connects to the server. The user of text is a superuser. The projects' database has
// the name in which pg_cron runs jobs, if the server has it: pg_cron can be created in no other
// one.
func openServer(ctx context.Context, text string) (s *server, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it must look like postgres://user:password@host:5432/postgres")
	}
	s = &server{url: u}
	if s.admin, err = pgx.Connect(ctx, text); err != nil {
		return nil, err
	}
	err = s.admin.QueryRow(ctx,
		`select coalesce(nullif(current_setting('cron.database_name', true), ''), 'corpus')`).Scan(&s.database)
	if err != nil {
		return nil, err
	}
	if s.database == s.admin.Config().Database {
		return nil, fmt.Errorf("the database %s is dropped for each project; name another one in the URL", s.database)
	}
	u.Path = "/" + s.database
	s.roles, err = s.readRoles(ctx)
	return s, err
}

func (s *server) close(ctx context.Context) error { return s.admin.Close(ctx) }

func (s *server) readRoles(ctx context.Context) ([]string, error) {
	rows, err := s.admin.Query(ctx, `select rolname from pg_roles order by oid desc`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// create creates the database of a project and returns its URL.
func (s *server) create(ctx context.Context) (string, error) {
	if err := s.drop(ctx); err != nil {
		return "", err
	}
	_, err := s.admin.Exec(ctx, "create database "+pgx.Identifier{s.database}.Sanitize())
	return s.url.String(), err
}

// drop drops the project's database, its replication slots and the roles that it left.
func (s *server) drop(ctx context.Context) error {
	_, err := s.admin.Exec(ctx,
		`select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = $1 and not active`,
		s.database)
	if err != nil {
		return err
	}
	if _, err := s.admin.Exec(ctx, "drop database if exists "+pgx.Identifier{s.database}.Sanitize()+
		" with (force)"); err != nil {
		return err
	}
	roles, err := s.readRoles(ctx)
	if err != nil {
		return err
	}
	for _, role := range roles {
		if slices.Contains(s.roles, role) {
			continue
		}
		if _, err := s.admin.Exec(ctx, "drop role "+pgx.Identifier{role}.Sanitize()); err != nil {
			return err
		}
	}
	return nil
}
