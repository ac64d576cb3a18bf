package config

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Document writes the reference of every setting as Markdown, those of the program p included. docs/configuration.md is this text; a test keeps it so.
func Document(w io.Writer, p Program) error {
	c := &Config{Project: defaults()}
	// One entry in each map stands for the names that an operator chooses.
	c.Storage.Buckets = map[string]Bucket{"NAME": {}}
	c.Auth.Email.Template = map[string]AuthTemplate{"NAME": {}}
	c.Auth.Email.Notification = map[string]AuthNotification{"NAME": {}}
	c.Auth.SMS.TestOTP, c.EdgeRuntime.Secrets = map[string]string{"NUMBER": ""}, map[string]string{"NAME": ""}
	c.Auth.Hook = map[string]AuthHook{"NAME": {}}
	c.Auth.External = map[string]AuthProvider{"NAME": {}}

	var variables, keys strings.Builder
	err := walk(reflect.ValueOf(c).Elem(), "", func(f field) error {
		if f.path == "" {
			fmt.Fprintf(&variables, "| `%s` | %s | %s |\n", f.env, code(cmp.Or(p.Defaults[f.env], f.def)), f.doc)
		} else {
			fmt.Fprintf(&keys, "| `%s` | %s | %s |\n", f.path, code(text(f.value)), f.doc)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, v := range p.Pages {
		fmt.Fprintf(&variables, "| `%s` | %s | %s |\n", v.Name, code(v.Default), v.Doc)
	}
	var elsewhere strings.Builder
	for _, v := range append(slices.Clone(p.Others), readElsewhere...) {
		fmt.Fprintf(&elsewhere, "| `%s` | %s | %s |\n", v.Name, code(v.Default), v.Doc)
	}
	_, err = fmt.Fprintf(w, reference, variables.String(), elsewhere.String(), keys.String())
	return err
}

// readElsewhere are the variables that are no settings of the stack: what its functions read, what the stack tells them,
// and what every program of a Unix reads.
var readElsewhere = []Variable{
	{"SUPABASE_ANON_KEY", "", "Told to functions: the legacy key of the role anon."},
	{"SUPABASE_SERVICE_ROLE_KEY", "", "Told to functions: the legacy key of the role service_role."},
	{"SUPABASE_DB_URL", "", "Told to functions: the database, as the role postgres."},
	{"XDG_RUNTIME_DIR", "", "Where the sockets of Postgres and of the operator's commands are put, each in a private folder; the temporary folder when not set. A service with a private /tmp needs it, or no command reaches it."},
	{"XDG_CACHE_HOME", "~/.cache", "Where Postgres is unpacked to, once for each version."},
	{"TMPDIR", "/tmp", "Where exports gather tables, and uploads are held."},
}

// text is how a default is written.
func text(v reflect.Value) string {
	switch {
	case v.IsZero():
		return ""
	case v.Kind() == reflect.Slice:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(v.Interface()), " ", ", "), "[]")
	}
	return fmt.Sprint(v.Interface())
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

const reference = `# Configuration

This page is generated from the code: ` + "`go test ./supabase -run TestConfigurationReference -update`" + ` writes it and the test suite checks it.

What belongs to the project is in ` + "`supabase/config.toml`" + `, in the official CLI's own format; what belongs to one installation is in
environment variables. Later ones win: config.toml, variables, command-line flags. In config.toml ` + "`env(NAME)`" + ` stands for a variable,
and ` + "`SUPABASE_` + the key in capitals" + ` (` + "`SUPABASE_AUTH_JWT_EXPIRY`" + `) overrides a key, both as in the CLI.

On a loopback address (the default) and without a public SITE_URL nothing needs to be set: the well-known local keys of the official CLI are used and mail goes to the
development inbox. Otherwise ` + "`SITE_URL`, `ADMIN_EMAIL` and `SMTP_HOST`" + ` are required, keys are generated on the first start and
kept in the data folder with mode 0600 (in the database where ` + "`DATABASE_URL`" + ` gives one), demo keys are refused, and sign-up and anonymous sign-in are off unless config.toml turns them on.

## Variables

| Variable | Default | Meaning |
|---|---|---|
%s
Functions see every variable of the process besides; these are the ones that ours read, or are told. Values without a default are set
by the stack.

| Variable | Default | Meaning |
|---|---|---|
%s
The services of the compose form that are not ours (GoTrue, PostgREST, storage-api, imgproxy, postgres-meta, Studio, Realtime) have
variables of their own: docs/docker.md lists what they are given. ` + "`daawo serve rest`, `auth` and `storage`" + ` read those of the image that
each stands in for: docs/rest.md, docs/auth.md and docs/storage.md.

## Keys of config.toml

Keys that are not in this table are left to the official CLI: they are accepted and not read. ` + "`daawo doctor`" + ` lists them.

| Key | Default | Meaning |
|---|---|---|
%s`
