package keys

import (
	"testing"
	"time"
)

// TestFunctionsSecret checks that the key of functions resolves to service_role, that it is another
// one in each installation and after a rotation, and that a set without secrets has none.
func TestFunctionsSecret(t *testing.T) {
	a, err := Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	b := a
	b.JWTSecret += "x"
	if role, _, ok := a.Resolve(a.FunctionsSecret(), time.Now()); role != RoleService || !ok {
		t.Errorf("%s %v", role, ok)
	}
	if _, _, ok := b.Resolve(a.FunctionsSecret(), time.Now()); ok || a.FunctionsSecret() == a.Secret {
		t.Error("the key survives a change of the secrets")
	}
	if (Set{}).FunctionsSecret() != "" || (Set{}).FunctionsServiceRole() != "" || (Set{}).OfFunctions("") {
		t.Error("an empty set has a key that any client can compute")
	}
}

// TestFunctionsServiceRole checks that the legacy key of functions is a token of service_role, and
// that none of their keys leads to a key of the operator.
func TestFunctionsServiceRole(t *testing.T) {
	set := Demo() // without a signing key, an opaque key resolves to a legacy one
	own := set.FunctionsServiceRole()
	claims, err := NewVerifier(Options{}, set.Verifying()...).Verify(own)
	if err != nil || claims.Role != RoleService || own == set.ServiceRole {
		t.Errorf("%+v %v", claims, err)
	}
	for _, key := range []string{own, set.FunctionsSecret()} {
		if role, token, ok := set.Resolve(key, time.Now()); !ok || role != RoleService || token != own || !set.OfFunctions(key) {
			t.Errorf("%s: %s %s %v", key, role, token, ok)
		}
	}
	for _, key := range []string{set.ServiceRole, set.Secret, set.Anon, "", "a.b.c"} {
		if set.OfFunctions(key) {
			t.Errorf("%q is a key of functions", key)
		}
	}
}
