package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/keys"
)

// The upstream images accept any token of any key in the file. So it must not keep old keys, nor
// the ones of an earlier rotation.
func TestRotateFile(t *testing.T) {
	old, err := keys.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if old, err = old.Rotate(time.Now()); err != nil {
		t.Fatal(err)
	}
	values, err := keyring.Environment(old)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(name, []byte(replaceLines("SITE_URL=https://example.org\n", values)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := rotateFile(t.Context(), name, false); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		variables[key] = strings.Trim(value, "'")
	}
	if variables["SITE_URL"] != "https://example.org" || !strings.Contains(variables["RETIRED_KEYS"], old.Publishable) {
		t.Errorf("another variable changed, or offline pages have no key:\n%s", text)
	}
	for _, given := range []string{"JWT_KEYS", "JWT_JWKS"} {
		set, err := keys.ParseSet(variables[given])
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, keys.Secret("", variables["JWT_SECRET"]))
		verifier := keys.NewVerifier(keys.Options{}, set...)
		for _, token := range []string{old.ServiceRole, old.ServiceRoleToken} {
			if _, err := verifier.Verify(token); err == nil {
				t.Errorf("%s: an old service_role key is accepted", given)
			}
		}
		for _, name := range []string{"SERVICE_ROLE_KEY", "SERVICE_ROLE_KEY_ASYMMETRIC"} {
			if _, err := verifier.Verify(variables[name]); err != nil {
				t.Errorf("%s: the new %s: %v", given, name, err)
			}
		}
	}
}

// TestReplaceFile looks at the old file by a second name: if it were overwritten, a full disk would
// leave it empty.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	name, whole := filepath.Join(dir, ".env"), filepath.Join(dir, "whole")
	if err := errors.Join(os.WriteFile(name, []byte("A=old\n"), 0o600), os.Link(name, whole)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err == nil {
		err = replaceFile(name, info, "A=new\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{name: "A=new\n", whole: "A=old\n"} {
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("files: %v, %v", left, err)
	}
}

// Docker compose uses the last line of a name, so every line of it must change.
func TestReplaceLines(t *testing.T) {
	values := []app.Value{{Name: "A", Value: "new"}, {Name: "B", Value: "more"}}
	for text, want := range map[string]string{
		"":                                "A='new'\nB='more'\n",
		"A=old\nB=old\n":                  "A='new'\nB='more'\n",
		"A=old\n# A=x\nB=1\nC=3\nA=old\n": "A='new'\n# A=x\nB='more'\nC=3\nA='new'\n",
		"B=old\nC=3":                      "B='more'\nC=3\nA='new'\n", // no final newline
		"A=old\nB=old":                    "A='new'\nB='more'\n",
		"A=old\nB=old\nC=3":               "A='new'\nB='more'\nC=3",
	} {
		if got := replaceLines(text, values); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
