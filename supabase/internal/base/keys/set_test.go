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
	if key, ok := a.Resolve(a.FunctionsSecret(), time.Now()); key.Role != RoleService || !ok {
		t.Errorf("%+v %v", key, ok)
	}
	if _, ok := b.Resolve(a.FunctionsSecret(), time.Now()); ok || a.FunctionsSecret() == a.Secret {
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
		found, ok := set.Resolve(key, time.Now())
		if want := (Resolved{RoleService, own, true}); !ok || found != want || !set.OfFunctions(key) {
			t.Errorf("%s: %+v %v", key, found, ok)
		}
	}
	for _, key := range []string{set.ServiceRole, set.Secret, set.Anon, "", "a.b.c"} {
		if found, _ := set.Resolve(key, time.Now()); found.Functions || set.OfFunctions(key) {
			t.Errorf("%q is a key of functions", key)
		}
	}
}

// BenchmarkResolve: each request of the API resolves its key.
func BenchmarkResolve(b *testing.B) {
	set := Demo()
	for name, key := range map[string]string{"anon": set.Anon, "service_role": set.ServiceRole, "secret": set.Secret} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				set.Resolve(key, time.Time{})
			}
		})
	}
}
