package config

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Document writes the reference of all settings, the program p's included, as Markdown. A
// test of the program compares it with docs/configuration.md.
func Document(w io.Writer, p Program) error {
	c := documented()

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
	var unused strings.Builder
	for _, u := range unusedKeys {
		fmt.Fprintf(&unused, "| `%s` | %s |\n", u.Key, u.Why)
	}
	_, err = fmt.Fprintf(w, reference, variables.String(), elsewhere.String(), keys.String(), unused.String())
	return err
}

// documented returns the defaults, with an entry in each map that stands for the operator's names.
func documented() *Config {
	c := &Config{Project: defaults()}
	c.Functions = map[string]Function{"NAME": {}}
	c.Storage.Buckets = map[string]Bucket{"NAME": {}}
	c.Auth.Email.Template = map[string]AuthTemplate{"NAME": {}}
	c.Auth.Email.Notification = map[string]AuthNotification{"NAME": {}}
	c.Auth.SMS.TestOTP, c.EdgeRuntime.Secrets = map[string]string{"NUMBER": ""}, map[string]string{"NAME": ""}
	c.DB.Vault = map[string]string{"NAME": ""}
	c.Auth.Hook = map[string]AuthHook{"NAME": {}}
	c.Auth.External = map[string]AuthProvider{"NAME": {}}
	return c
}

// eachKey calls f with each key of config.toml that is used.
func eachKey(f func(key string)) error {
	return walk(reflect.ValueOf(documented()).Elem(), "", func(field field) error {
		if field.path != "" {
			f(field.path)
		}
		return nil
	})
}

// readElsewhere lists the variables that are not settings of the stack: those that the stack sets
// for functions, and Unix variables.
var readElsewhere = []Variable{
	{"SUPABASE_ANON_KEY", "", "Set for functions: the legacy key of the role anon.", nil},
	{"SUPABASE_SERVICE_ROLE_KEY", "", "Set for functions: a legacy key of the role service_role.", nil},
	{"SUPABASE_DB_URL", "", "Set for functions: URL of the database, as the first of edge_runtime.database_roles.", nil},
	{"XDG_RUNTIME_DIR", "", "Parent of the private folders for the sockets of Postgres and of the operator's commands. Default: the temporary folder. A service with a private /tmp needs it, otherwise commands cannot reach the service.", nil},
	{"NO_COLOR", "", "If set to any text, the commands write no colours.", nil},
	{"TERM", "", "With `dumb`, the commands write no colours and no line that moves.", nil},
	{"PATH", "", "Where Go, npm and Deno are looked for.", nil},
	{"XDG_CACHE_HOME", "~/.cache", "Folder into which Postgres and added programs are unpacked, once for each version.", nil},
	{"TMPDIR", "/tmp", "Folder for temporary files of exports and uploads.", nil},
	{"GOMEMLIMIT", "", "Memory limit of the Go runtime, in the notation of Go. Default: a share of the memory limit of the container or systemd unit.", nil},
	{"LISTEN_FDS", "", "Set by systemd: the number of listening sockets of a socket unit. A socket is used for the port that it has.", nil},
	{"LISTEN_PID", "", "Set by systemd: the process for which LISTEN_FDS is.", nil},
	{"GOGC", "200", "Target of the Go runtime's garbage collector: how much garbage may gather, in percent of the live memory. " +
		"If it is not set, 50 while more than 512 connections are open.", nil},
	{"SUPABASE_ENV", "development",
		"Stage in the names of the files whose variables replace env(NAME) in config.toml: .env.STAGE.local, .env.STAGE.", nil},
	{"DAAWO", "", "Program that serves the databases of edgetest.DB. Default: daawo of PATH.", nil},
	{"WAL2JSON_POSTGRES", "", "Folder of a Postgres with wal2json for the test that compares Realtime with upstream's functions.", nil},
}

// text formats a default.
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

This page is generated from the code: ` + "`go test ./supabase -run TestConfigurationReference -update`" + `
writes it, and the tests check it.

Settings of the project are in ` + "`supabase/config.toml`" + `, in the format of the official CLI. Settings of one
installation are environment variables. Variables override config.toml, and command-line flags override both. In
config.toml ` + "`env(NAME)`" + ` stands for the value of a variable, and the variable ` +
	"`SUPABASE_` + the key in capitals" + `
(` + "`SUPABASE_AUTH_JWT_EXPIRY`" + `) overrides a key, both as in the CLI.

On a loopback address (the default) and without a public SITE_URL no setting is required: the stack uses the well-known
local keys of the official CLI, and mail goes to the development inbox. Otherwise:

- ` + "`SITE_URL`, `ADMIN_EMAIL` and `SMTP_HOST`" + ` are required.
- Keys are generated on the first start and kept in the data folder with mode 0600, or with ` + "`DATABASE_URL`" +
	` in the
  database.
- Demo keys are rejected.
- Sign-up and anonymous sign-in are disabled unless config.toml enables them.

## Variables

| Variable | Default | Meaning |
|---|---|---|
%s
Functions also get all variables of the process. This table lists those that they read and those that the stack sets for
them, and the variables of Unix. Values without a default are set by the stack.

| Variable | Default | Meaning |
|---|---|---|
%s
The official services in the Docker Compose form (GoTrue, PostgREST, storage-api, imgproxy, postgres-meta, Studio,
Realtime) have their own variables: see docs/docker.md. ` + "`daawo serve rest`, `auth`, `storage`, `realtime` and `meta`" +
	` read the
variables of the image that they replace: see docs/rest.md, docs/auth.md, docs/storage.md, docs/realtime.md and docs/meta.md.

## Keys of config.toml

` + "`enable_signup` of `[auth.email]` and `[auth.sms]` is read as `enabled`, and `[inbucket]` as `[local_smtp]`" +
	`. The section
` + "`[remotes.NAME]`" + ` whose ` + "`project_id`" + ` is the project's (or of ` + "`SUPABASE_PROJECT_ID`" +
	`) overrides the other
sections, as in the CLI. An unknown key logs a warning with the nearest known key.

| Key | Default | Meaning |
|---|---|---|
%s
## Keys of the official CLI without effect

` + "`daawo doctor`" + ` lists those that the project sets.

| Key | Reason |
|---|---|
%s`
