package keyring

import (
	"testing"
	"time"

	"daawo/supabase/internal/base/keys"
)

// TestRetiredKeyExpires checks the end of a retired key by the server's clock, also before the keys
// of a rotation are in use.
func TestRetiredKeyExpires(t *testing.T) {
	now := time.Now().AddDate(0, 1, 0)
	old, err := keys.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ring := New(old, func() time.Time { return now })
	next := old
	next.Retired = []keys.Retired{{Key: "sb_publishable_retired", Until: now.AddDate(0, 0, -1)}}
	ring.Learn(next)
	if _, ok := ring.Resolve("sb_publishable_retired"); ok {
		t.Error("an expired key is accepted")
	}
	now = now.AddDate(0, 0, -2)
	if _, ok := ring.Resolve("sb_publishable_retired"); !ok {
		t.Error("a key is rejected before its end")
	}
}

// TestRoleOfToken checks that only valid tokens have a role in the audit log.
func TestRoleOfToken(t *testing.T) {
	old, err := keys.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ring := New(old, time.Now)
	for token, want := range map[string]string{
		old.ServiceRole: "service_role", old.ServiceRoleToken: "service_role", old.Anon: "anon", old.Secret: "",
		keys.Demo().ServiceRole: "",
	} {
		if role := ring.Role(token); role != want {
			t.Errorf("%s has the role %q, want %q", token, role, want)
		}
	}
	next, err := old.Replace(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ring.Learn(next)
	ring.Use()
	if role := ring.Role(old.ServiceRole); role != "" {
		t.Errorf("a stolen token has the role %q after the rotation", role)
	}
}
