package docker_test

import (
	"slices"
	"strings"
	"testing"
)

// upstream lists the variables that the services of Supabase's self-hosted set 0.8.2 get, by our
// names of the services.
var upstream = map[string]string{
	"studio": `HOSTNAME STUDIO_PG_META_URL POSTGRES_PORT POSTGRES_HOST POSTGRES_DB POSTGRES_PASSWORD POSTGRES_USER_READ_WRITE PG_META_CRYPTO_KEY
		PGRST_DB_SCHEMAS PGRST_DB_MAX_ROWS PGRST_DB_EXTRA_SEARCH_PATH DEFAULT_ORGANIZATION_NAME DEFAULT_PROJECT_NAME OPENAI_API_KEY SUPABASE_URL
		SUPABASE_PUBLIC_URL SUPABASE_ANON_KEY SUPABASE_SERVICE_KEY AUTH_JWT_SECRET SUPABASE_PUBLISHABLE_KEY SUPABASE_SECRET_KEY
		ENABLED_FEATURES_LOGS_ALL SNIPPETS_MANAGEMENT_FOLDER EDGE_FUNCTIONS_MANAGEMENT_FOLDER`,
	"auth": `GOTRUE_API_HOST GOTRUE_API_PORT API_EXTERNAL_URL GOTRUE_DB_DRIVER GOTRUE_DB_DATABASE_URL GOTRUE_SITE_URL GOTRUE_URI_ALLOW_LIST
		GOTRUE_DISABLE_SIGNUP GOTRUE_JWT_ADMIN_ROLES GOTRUE_JWT_AUD GOTRUE_JWT_DEFAULT_GROUP_NAME GOTRUE_JWT_EXP GOTRUE_JWT_SECRET
		GOTRUE_EXTERNAL_EMAIL_ENABLED GOTRUE_EXTERNAL_ANONYMOUS_USERS_ENABLED GOTRUE_MAILER_AUTOCONFIRM GOTRUE_SMTP_ADMIN_EMAIL GOTRUE_SMTP_HOST
		GOTRUE_SMTP_PORT GOTRUE_SMTP_USER GOTRUE_SMTP_PASS GOTRUE_SMTP_SENDER_NAME GOTRUE_MAILER_URLPATHS_INVITE GOTRUE_MAILER_URLPATHS_CONFIRMATION
		GOTRUE_MAILER_URLPATHS_RECOVERY GOTRUE_MAILER_URLPATHS_EMAIL_CHANGE GOTRUE_EXTERNAL_PHONE_ENABLED GOTRUE_SMS_AUTOCONFIRM`,
	"rest": `PGRST_DB_URI PGRST_DB_SCHEMAS PGRST_DB_MAX_ROWS PGRST_DB_EXTRA_SEARCH_PATH PGRST_DB_ANON_ROLE PGRST_JWT_SECRET
		PGRST_DB_USE_LEGACY_GUCS PGRST_APP_SETTINGS_JWT_SECRET PGRST_APP_SETTINGS_JWT_EXP`,
	"realtime": `PORT DB_HOST DB_PORT DB_USER DB_PASSWORD DB_NAME DB_AFTER_CONNECT_QUERY DB_ENC_KEY API_JWT_SECRET SECRET_KEY_BASE METRICS_JWT_SECRET
		ERL_AFLAGS DNS_NODES RLIMIT_NOFILE APP_NAME SEED_SELF_HOST RUN_JANITOR DISABLE_HEALTHCHECK_LOGGING`,
	"storage": `ANON_KEY SERVICE_KEY POSTGREST_URL AUTH_JWT_SECRET DATABASE_URL STORAGE_PUBLIC_URL REQUEST_ALLOW_X_FORWARDED_PATH FILE_SIZE_LIMIT
		STORAGE_BACKEND GLOBAL_S3_BUCKET FILE_STORAGE_BACKEND_PATH TENANT_ID REGION ENABLE_IMAGE_TRANSFORMATION IMGPROXY_URL
		S3_PROTOCOL_ACCESS_KEY_ID S3_PROTOCOL_ACCESS_KEY_SECRET`,
	"imgproxy": `IMGPROXY_BIND IMGPROXY_LOCAL_FILESYSTEM_ROOT IMGPROXY_USE_ETAG IMGPROXY_AUTO_WEBP IMGPROXY_MAX_SRC_RESOLUTION`,
	"meta":     `PG_META_PORT PG_META_DB_HOST PG_META_DB_PORT PG_META_DB_NAME PG_META_DB_USER PG_META_DB_PASSWORD CRYPTO_KEY`,
	"db":       `POSTGRES_HOST PGPORT POSTGRES_PORT PGPASSWORD POSTGRES_PASSWORD PGDATABASE POSTGRES_DB JWT_SECRET JWT_EXP`,
	"pooler": `PORT POSTGRES_PORT POSTGRES_HOST POSTGRES_DB POSTGRES_PASSWORD DATABASE_URL CLUSTER_POSTGRES SECRET_KEY_BASE VAULT_ENC_KEY
		API_JWT_SECRET METRICS_JWT_SECRET REGION ERL_AFLAGS POOLER_TENANT_ID POOLER_DEFAULT_POOL_SIZE POOLER_MAX_CLIENT_CONN POOLER_POOL_MODE DB_POOL_SIZE`,
}

// TestUpstreamDifferences checks that docs/docker.md names every variable that only upstream's set
// or only ours gives a service.
func TestUpstreamDifferences(t *testing.T) {
	_, section, ok := strings.Cut(readFile(t, "../docs/docker.md"), "\n### Beside upstream's set\n")
	if !ok {
		t.Fatal("docs/docker.md has no such section")
	}
	section, _, _ = strings.Cut(section, "\n### ")
	named := func(service, variable string) bool {
		for line := range strings.Lines(section) {
			if strings.HasPrefix(line, "| "+service+" | ") && strings.Contains(line, "`"+variable+"`") {
				return true
			}
		}
		return false
	}
	services := local(t, "*").Services
	for service, text := range upstream {
		theirs := strings.Fields(text)
		for _, variable := range theirs {
			if _, ok := services[service].Environment[variable]; !ok && !named(service, variable) {
				t.Errorf("%s does not get %s, and the page does not say why", service, variable)
			}
		}
		for variable := range services[service].Environment {
			if !slices.Contains(theirs, variable) && !named(service, variable) {
				t.Errorf("only ours gives %s of %s, and the page does not say why", variable, service)
			}
		}
	}
	for _, left := range []string{"kong", "edge-runtime", "Logflare", "vector"} {
		if !strings.Contains(section, left) {
			t.Errorf("the page does not say why %s is left out", left)
		}
	}
}

// TestPageBeginsWithCommand checks that docs/docker.md begins with the one command, and says in its
// second sentence where it runs on the real images.
func TestPageBeginsWithCommand(t *testing.T) {
	page := strings.Join(strings.Fields(readFile(t, "../docs/docker.md")), " ")
	if !strings.HasPrefix(page, "# Docker `docker compose up` in a fresh clone ") {
		t.Errorf("the page begins with %.80s", page)
	}
	sentences := strings.SplitN(page, ". ", 3)
	for _, want := range []string{".github/workflows/compose.yml", "on the real images"} {
		if !strings.Contains(sentences[1], want) {
			t.Errorf("the second sentence does not say %q: %s", want, sentences[1])
		}
	}
}
