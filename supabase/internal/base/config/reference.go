package config

import "strings"

// unusedKey is a key of the official CLI without effect here. A segment * of Key stands for any
// name; a last segment ** stands for all keys of the section.
type unusedKey struct{ Key, Why string }

// unusedKeys lists the keys of the CLI's reference that Project does not have. They are no
// mistakes, so nothing is logged about them; `doctor` names them.
var unusedKeys = []unusedKey{
	{"api.external_url", "SITE_URL sets the public address."},
	{"db.shadow_port", "The shadow database is another database of the same server."},
	{"db.health_timeout", "The start waits for Postgres as long as it makes progress."},
	{"db.orioledb_version", "The storage engine is Postgres' own."},
	{"db.root_key", "The key of the vault is generated and kept in the data folder."},
	{"db.pooler.**", "There is no pooler; each engine has its own pool. DB_URL accepts transactions of any length."},
	{"db.settings.**", "The program sizes the embedded Postgres. Use alter database or alter role in a migration, or --database-url."},
	{"db.network_restrictions.**", "The port of Postgres is on loopback only."},
	{"db.ssl_enforcement.**", "The flag --db-tls serves TLS on the port of Postgres."},
	{"db.migrations.schema_paths", "Only migrations are applied. `daawo db diff` writes one from the differences."},
	{"realtime.ip_version", "Realtime listens where the API does."},
	{"realtime.max_header_length", "The gateway limits headers to 32 KiB."},
	{"studio.api_url", "Studio gets the address of this server."},
	{"studio.openai_api_key", "The assistant sends the schema to another company."},
	{"studio.pgmeta_image", "META_URL selects another postgres-meta."},
	{"local_smtp.pop3_port", "The inbox has a page and an API, but no POP3."},
	{"storage.analytics.**", "Iceberg buckets are not served."},
	{"storage.vector.**", "Vector buckets are not served."},
	{"auth.publishable_key", "SUPABASE_PUBLISHABLE_KEY sets the key of an installation."},
	{"auth.secret_key", "SUPABASE_SECRET_KEY sets the key of an installation."},
	{"auth.jwt_secret", "JWT_SECRET sets the secret of an installation."},
	{"auth.anon_key", "ANON_KEY sets the key of an installation."},
	{"auth.service_role_key", "SERVICE_ROLE_KEY sets the key of an installation."},
	{"auth.email.template.*.content", "The CLI refuses it, too: use content_path."},
	{"auth.email.notification.*.content", "The CLI refuses it, too: use content_path."},
	{"edge_runtime.enabled", "Functions are always served."},
	{"edge_runtime.policy", "Each function in TypeScript has a process, which serves many calls."},
	{"edge_runtime.inspector_port", "Functions in TypeScript have no inspector."},
	{"edge_runtime.deno_version", "The installed Deno runs functions in TypeScript."},
	{"analytics.**", "There is no Logflare; logs go to the standard error."},
	{"experimental.**", "OrioleDB, pg-delta and inspection rules belong to the CLI. Database webhooks need no switch."},
}

// reasonOf returns why a key has no effect, and false if the key is not in unusedKeys.
func reasonOf(key string) (string, bool) {
	words := strings.Split(key, ".")
	for _, u := range unusedKeys {
		if covers(strings.Split(u.Key, "."), words) {
			return u.Why, true
		}
	}
	return "", false
}

func covers(pattern, words []string) bool {
	for i, p := range pattern {
		if p == "**" {
			return true
		}
		if i >= len(words) || p != "*" && p != words[i] {
			return false
		}
	}
	return len(pattern) == len(words)
}

// isPrefix reports whether unusedKeys has keys in the section.
func isPrefix(section string) bool {
	for _, u := range unusedKeys {
		if strings.HasPrefix(u.Key, section+".") {
			return true
		}
	}
	return false
}
