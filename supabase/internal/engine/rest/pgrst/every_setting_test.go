package pgrst

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"daawo/supabase/internal/database/testdb"
)

// settingCase is a setting and a request whose reply depends on it.
type settingCase struct {
	setting string // lines of the configuration file
	url     string // [METHOD ]PATH
	header  string
	want    []string // text in the reply
	absent  string   // text that must not be in the reply
}

// settingCases returns the table of TestEverySetting. dir is a directory for sockets, uri a file
// with the database's URI, and signed an Authorization header.
func settingCases(dir, uri, signed string) []settingCase {
	secret := `jwt-secret = "` + settingsSecret + "\"\n"
	return []settingCase{
		{setting: "admin-server-host = \"127.0.0.1\"\nadmin-server-unix-socket = \"" + dir + "/h\"",
			url: "/things?id=eq.1", want: []string{"200"}},
		{setting: `client-error-verbosity = "minimal"`, url: "/nothing", want: []string{"404", `"PGRST205"`},
			absent: "details"},
		{setting: `db-aggregates-enabled = true`, url: "/things?select=id.sum()", want: []string{"200", `[{"sum":6}]`}},
		{setting: `db-aggregates-enabled = false`, url: "/things?select=id.sum()", want: []string{"400", "PGRST123"}},
		{setting: `db-anon-role = ""`, url: "/things", want: []string{"401", "PGRST302"}},
		{setting: `db-extra-search-path = "tools"`, url: "/rpc/use_tools", want: []string{"200", "42"}},
		{setting: `db-extra-search-path = ""`, url: "/rpc/use_tools", want: []string{"404", "42883"}},
		{setting: `db-hoisted-tx-settings = "work_mem"`, url: "POST /rpc/slow", want: []string{"200"}},
		{setting: `db-hoisted-tx-settings = "statement_timeout"`, url: "POST /rpc/slow",
			want: []string{"500", "57014"}},
		{setting: `db-max-rows = 2`, url: "/things?select=id",
			want: []string{"200", "Content-Range: 0-1/*", `[{"id":1}`}, absent: `"id":3`},
		{setting: `db-plan-enabled = true`, url: "/things", header: "Accept: application/vnd.pgrst.plan",
			want: []string{"200", "Aggregate"}},
		{setting: `db-plan-enabled = false`, url: "/things", header: "Accept: application/vnd.pgrst.plan",
			want: []string{"406", "PGRST107"}},
		{setting: `db-pool-automatic-recovery = true`, url: "/things", want: []string{"200"}},
		{setting: `db-pool-max-idletime = 1`, url: "/things", want: []string{"200"}},
		{setting: `db-pool-max-lifetime = 1`, url: "/things", want: []string{"200"}},
		{setting: `db-pre-config = "config.settings"`, url: "/things?select=id",
			want: []string{"200", "Content-Range: 0-0/*"}},
		{setting: `db-pre-request = "gate"`, url: "/things", want: []string{"200", "X-Gate: open"}},
		{setting: `db-prepared-statements = false`, url: "/rpc/prepared", want: []string{"200", "\n0"}},
		{setting: `db-root-spec = "root"`, url: "/", want: []string{"200", `{"root": true}`}},
		{setting: `db-schemas = "public, other"`, url: "/items", header: "Accept-Profile: other",
			want: []string{"200", "Content-Profile: other", `[{"id":7}]`}},
		{setting: `db-schemas = "public, other"`, url: "/items", header: "Accept-Profile: config",
			want: []string{"406", "PGRST106", "public, other"}},
		{setting: `db-tx-end = "rollback-allow-override"`, url: "DELETE /things?id=eq.3",
			header: "Prefer: return=representation", want: []string{"200", `"id":3`}},
		{setting: `db-tx-end = "rollback"`, url: "DELETE /things?id=eq.3",
			header: "Prefer: return=representation, tx=commit", want: []string{"200", `"id":3`}, absent: "tx=commit"},
		{setting: `db-tx-end = "rollback-allow-override"`, url: "DELETE /parts?id=eq.10", header: "Prefer: tx=commit",
			want: []string{"204", "Preference-Applied: tx=commit"}},
		{setting: `db-uri = "@` + uri + `"`, url: "/things?id=eq.1", want: []string{"200", `"id":1`}},
		{setting: secret + `jwt-aud = "mine"`, url: "/things", header: signed, want: []string{"200"}},
		{setting: secret + `jwt-aud = "yours"`, url: "/things", header: signed,
			want: []string{"401", "PGRST303", "JWT not in audience"}},
		{setting: secret + `jwt-role-claim-key = ".app.role"`, url: "/things", header: signed, want: []string{"200"}},
		{setting: secret + `jwt-role-claim-key = ".aud"`, url: "/things", header: signed,
			want: []string{"401", `role \"mine\" does not exist`}},
		{setting: secret, url: "/things", header: signed + "x", want: []string{"401", "PGRST301"}},
		{setting: `jwt-secret = "` + base64.StdEncoding.EncodeToString([]byte(settingsSecret)) +
			"\"\njwt-secret-is-base64 = true", url: "/things", header: signed, want: []string{"200"}},
		{setting: `openapi-mode = "disabled"`, url: "/", want: []string{"404", "PGRST126"}},
		{setting: `openapi-mode = "ignore-privileges"`, url: "/", want: []string{"200", "/rpc/wait"}},
		{setting: `openapi-security-active = true`, url: "/", want: []string{"200", `"securityDefinitions"`}},
		{setting: `openapi-server-proxy-uri = "https://example.org/base"`, url: "/",
			want: []string{"200", `"host":"example.org:443"`, `"basePath":"/base"`}},
		{setting: `server-cors-allowed-origins = "https://a.example, https://b.example"`, url: "/things",
			header: "Origin: https://b.example",
			want:   []string{"200", "Access-Control-Allow-Origin: https://b.example"}},
		{setting: `server-cors-allowed-origins = "https://a.example, https://b.example"`, url: "/things",
			header: "Origin: https://c.example", want: []string{"200"}, absent: "Access-Control-Allow-Origin"},
		{setting: `server-timing-enabled = true`, url: "/things", want: []string{"200", "Server-Timing: jwt;dur="}},
		{setting: `server-trace-header = "X-Request-Id"`, url: "/things", header: "X-Request-Id: 77",
			want: []string{"200", "X-Request-Id: 77"}},
		{setting: `url-use-legacy-target-names = true`, url: "/things?select=id,p:parts(id)&parts.id=eq.10",
			want: []string{"200", "Warning: 299"}},
		{setting: `url-use-legacy-target-names = false`, url: "/things?select=id,p:parts(id)&parts.id=eq.10",
			want: []string{"400", "PGRST108"}},
		{setting: `app.settings.price = "5"`, url: "/rpc/price", want: []string{"200", `"5"`}},
	}
}

// TestEverySetting starts a server for each setting of PostgREST's reference and checks the reply
// that the setting changes. It fails for a setting of dump that no test covers.
func TestEverySetting(t *testing.T) {
	database := testdb.New(t)
	database.Exec(settingsSQL)
	signed := bearer(t, jwt.MapClaims{"role": "authenticated", "aud": "mine", "app": map[string]any{"role": "anon"}})
	dir := t.TempDir()
	uri := filepath.Join(dir, "uri")
	if err := os.WriteFile(uri, []byte(database.URL("authenticator")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, r := range settingCases(dir, uri, signed) {
		name, _, _ := strings.Cut(r.setting[strings.LastIndexByte(strings.TrimSpace(r.setting), '\n')+1:], " ")
		for line := range strings.Lines(r.setting) {
			key, _, _ := strings.Cut(line, " ")
			tested[key] = true
		}
		t.Run(name, func(t *testing.T) {
			s := start(t, database, r.setting)
			var header []string
			if r.header != "" {
				header = append(header, r.header)
			}
			got := s.ask(s.socket, r.url, header...)
			for _, w := range r.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q is missing in %s", w, got)
				}
			}
			if r.absent != "" && strings.Contains(got, r.absent) {
				t.Errorf("unexpected %q in %s", r.absent, got)
			}
		})
	}
	for _, other := range []string{
		"admin-server-port", "server-host", "server-port", "server-reuseport", // TestPorts
		"server-unix-socket-mode", "admin-server-unix-socket-mode", "server-unix-socket", // TestSockets
		"db-pool", "db-pool-acquisition-timeout", // TestFullPool
		"db-channel", "db-channel-enabled", "db-config", // TestReloads
		"log-level", "log-query", // TestLogs
		"jwt-cache-max-entries", // TestTokenCache
	} {
		tested[other] = true
	}
	s, err := loadSettings(sources{})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(s.dump()) {
		if name, _, _ := strings.Cut(line, " "); !tested[name] {
			t.Errorf("no test covers %s", name)
		}
	}
}
