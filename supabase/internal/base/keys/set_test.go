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
	if (Set{}).FunctionsSecret() != "" {
		t.Error("an empty set has a key that any client can compute")
	}
}
