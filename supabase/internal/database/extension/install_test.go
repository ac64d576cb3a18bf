package extension_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daawo/supabase/internal/database/extension"
)

func TestInstall(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := extension.Install(dir); err == nil || !strings.Contains(err.Error(), "pg_config --sharedir") {
		t.Errorf("another folder: %v", err)
	}
	for name, text := range map[string]string{"plpgsql.control": "", "pg_cron.control": "# another\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second run replaces our own files
		written, kept, err := extension.Install(dir)
		if err != nil || strings.Join(kept, " ") != "pg_cron" ||
			strings.Join(written, " ") != "pg_graphql pg_jsonschema pg_net pg_tle pgaudit pgjwt pgmq pgsodium supabase_vault" {
			t.Errorf("written %v, kept %v, %v", written, kept, err)
		}
	}
	if scripts, _ := filepath.Glob(filepath.Join(dir, "pg_cron--*")); len(scripts) > 0 {
		t.Errorf("%v beside another pg_cron", scripts)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "pg_net--0.20.4.sql")); err != nil ||
		!strings.Contains(string(text), "net.http_post") {
		t.Error(err)
	}
}
