package migrate

import "testing"

// TestWithRights checks which statements are rewritten, and how.
func TestWithRights(t *testing.T) {
	for stmt, want := range map[string]string{
		"create publication p for all tables":                                         "select daawo.publish_all_tables('p', '')",
		"CREATE PUBLICATION \"My \"\"P\" FOR ALL TABLES WITH (publish = 'insert')":    "select daawo.publish_all_tables('My \"P', 'publish = ''insert''')",
		"-- all\ncreate publication P for all tables":                                 "-- all\nselect daawo.publish_all_tables('p', '')",
		"do $$ begin create publication p for all tables; end $$":                     "do $$ begin perform daawo.publish_all_tables('p', ''); end $$",
		"create publication p for table notes":                                        "create publication p for table notes",
		"-- requests\ncreate extension pg_net;":                                       "-- requests\ncreate extension if not exists pg_net;",
		"CREATE EXTENSION \"pg_net\" WITH SCHEMA extensions":                          "CREATE EXTENSION if not exists \"pg_net\" WITH SCHEMA extensions",
		"create extension if not exists pg_net":                                       "create extension if not exists pg_net",
		"create extension pg_cron with schema extensions":                             "create extension pg_cron",
		"-- jobs\nCREATE EXTENSION IF NOT EXISTS \"pg_cron\" SCHEMA \"cron\" CASCADE": "-- jobs\nCREATE EXTENSION IF NOT EXISTS \"pg_cron\" CASCADE",
		"create extension pg_cron with version '1.6' schema public":                   "create extension pg_cron with version '1.6'",
		"do $$ begin create extension pg_cron schema extensions; end $$":              "do $$ begin create extension pg_cron; end $$",
		"create extension pg_crontab schema public":                                   "create extension pg_crontab schema public",
		"select 'create extension pg_cron schema public'":                             "select 'create extension pg_cron schema public'",
		"create extension pg_network":                                                 "create extension pg_network",
		"select 'create extension pg_net'":                                            "select 'create extension pg_net'",
		"select 'create publication p for all tables'":                                "select 'create publication p for all tables'",
	} {
		if got := withRights(stmt); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", stmt, got, want)
		}
	}
}

// TestRightsWithin checks the statements that publish the tables of schemas or move an extension.
func TestRightsWithin(t *testing.T) {
	for stmt, want := range map[string]string{
		"alter publication P add tables in schema \"My \"\"S\", public;": "select " +
			"daawo.publish_schemas('p', 'add', array['My \"S', 'public']);",
		"do $$ begin alter publication p set tables in schema a; end $$": "do $$ begin perform " +
			"daawo.publish_schemas('p', 'set', array['a']); end $$",
		"create publication p for tables in schema a with (publish = 'insert')": "create publication p " +
			"with (publish = 'insert'); select daawo.publish_schemas('p', 'add', array['a'])",
		"alter publication p add tables in schema a, table b":  "",
		"alter publication p drop tables in schema a":          "",
		"-- a\nalter extension \"uuid-ossp\" set schema x;":    "-- a\nselect daawo.move_extension('uuid-ossp', 'x');",
		"select 'alter extension a set schema b;'":             "",
		"select 'alter publication p add tables in schema a;'": "",
	} {
		if want == "" {
			want = stmt
		}
		if got := withRights(stmt); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", stmt, got, want)
		}
	}
}
