package keys

import (
	"encoding/json"
	"testing"
	"time"
)

// rotated returns a generated set and its rotation.
func rotated(t *testing.T) (old, next Set) {
	t.Helper()
	old, err := Generate(noon)
	if err != nil {
		t.Fatal(err)
	}
	if next, err = old.Rotate(noon); err != nil {
		t.Fatal(err)
	}
	return old, next
}

// TestRotateTokens checks which tokens of the old keys are accepted after Rotate. After Replace
// none is. A secret signs no session if another key signed them.
func TestRotateTokens(t *testing.T) {
	old, next := rotated(t)
	v := NewVerifier(at(noon), next.Verifying()...)
	for name, token := range map[string]string{"old anon": old.Anon, "old ES256": old.AnonToken, "new anon": next.Anon,
		"new ES256": next.AnonToken, "new service_role": next.ServiceRole,
		"new service_role, ES256": next.ServiceRoleToken} {
		if _, err := v.Verify(token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	replaced, err := old.Replace(noon)
	if err != nil {
		t.Fatal(err)
	}
	strict := NewVerifier(at(noon), replaced.Verifying()...)
	for key, sessions := range map[*Key]bool{new(Secret("", old.JWTSecret)): false, &old.Signing[0]: true} {
		for payload, accepted := range map[string]bool{
			`{"role":"authenticated","sub":"u","session_id":"s"}`: sessions,
			`{"role":"anon"}`:                                    true,
			`{"role":"service_role"}`:                            false,
			`{"role":"authenticated","sub":"u"}`:                 false,
			`{"role":"service_role","sub":"u","session_id":"s"}`: false,
			`{"role":"postgres","sub":"u","session_id":"s"}`:     false,
			`{"role":"supabase_admin"}`:                          false,
			`{"role":"anon","sub":"u","session_id":"s"}`:         false,
			`{"role":"authenticated"}`:                           false,
			`{"url":"a/b"}`:                                      false,
		} {
			token := mustSign(t, *key, payload)
			if _, err := v.Verify(token); (err == nil) != accepted {
				t.Errorf("%s with the old %s key after Rotate: %v", payload, key.Algorithm, err)
			}
			if _, err := strict.Verify(token); err == nil {
				t.Errorf("%s with the old %s key is accepted after Replace", payload, key.Algorithm)
			}
		}
	}
	if _, ok := replaced.Resolve(old.Publishable, noon); !ok || len(replaced.Previous) != 0 {
		t.Error("Replace refuses the old publishable key or keeps old signing keys")
	}
}

// TestRotateSecretThatSignsSessions: without a signing key the old secret signed the sessions,
// which continue.
func TestRotateSecretThatSignsSessions(t *testing.T) {
	old, err := Generate(noon)
	if err != nil {
		t.Fatal(err)
	}
	old.Signing = nil
	next, err := old.Rotate(noon)
	if err != nil {
		t.Fatal(err)
	}
	v, secret := NewVerifier(at(noon), next.Verifying()...), Secret("", old.JWTSecret)
	if _, err := v.Verify(mustSign(t, secret, `{"role":"authenticated","sub":"u","session_id":"s"}`)); err != nil {
		t.Errorf("a session: %v", err)
	}
	if _, err := v.Verify(mustSign(t, secret, `{"role":"service_role"}`)); err == nil {
		t.Error("an API key is accepted")
	}
}

func TestRotateDropsDemoKeys(t *testing.T) {
	if next, err := Demo().Rotate(noon); err != nil || len(next.Previous) != 0 {
		t.Errorf("%d demo keys are kept: %v", len(next.Previous), err)
	}
}

// TestRotateMarksKeysInJSON: other processes receive the keys as JSON and must apply the same rule.
func TestRotateMarksKeysInJSON(t *testing.T) {
	old, next := rotated(t)
	text, err := json.Marshal(next.Verifying())
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParseSet(string(text))
	if err != nil {
		t.Fatal(err)
	}
	v := NewVerifier(at(noon), parsed...)
	for name, token := range map[string]string{
		"service_role": old.ServiceRole, "forged session": mustSign(t, Secret("", old.JWTSecret),
			`{"role":"authenticated","sub":"u","session_id":"s"}`),
	} {
		if _, err := v.Verify(token); err == nil {
			t.Errorf("%s of the old secret is accepted", name)
		}
	}
}

func TestRotateAPIKeys(t *testing.T) {
	old, next := rotated(t)
	v := NewVerifier(at(noon), next.Verifying()...)
	later := noon.Add(RetiredFor)
	for _, c := range []struct {
		name, key string
		when      time.Time
		role      string
	}{
		{"new publishable", next.Publishable, noon, RoleAnon},
		{"new secret", next.Secret, noon, RoleService},
		{"old publishable, in time", old.Publishable, later.Add(-time.Second), RoleAnon},
		{"old publishable, too late", old.Publishable, later, ""},
		{"old secret", old.Secret, noon, ""},
		{"old service_role", old.ServiceRole, noon, ""},
		{"empty", "", noon, ""},
	} {
		found, ok := next.Resolve(c.key, c.when)
		if found.Role != c.role || ok != (c.role != "") {
			t.Errorf("%s: role %q, %v", c.name, found.Role, ok)
		}
		if ok {
			if _, err := v.Verify(found.Token); err != nil {
				t.Errorf("%s: its token: %v", c.name, err)
			}
		}
	}
}
