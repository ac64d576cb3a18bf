package keyring

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
)

// TestEnvironmentKeys checks that the variables of the compose form are valid for the real services
// and are read back as the same keys, over two rotations.
func TestEnvironmentKeys(t *testing.T) {
	now := time.Now()
	set, err := keys.Generate(now)
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]string{"first": set.AnonToken}
	for _, round := range []string{"second", "third"} {
		v := variablesOf(t, set)
		var list []struct {
			Kid string
			Ops []string `json:"key_ops"`
		}
		if err := json.Unmarshal([]byte(v["JWT_KEYS"]), &list); err != nil {
			t.Fatal(err)
		}
		var signing, ids []string
		for _, k := range list {
			if slices.Contains(k.Ops, "sign") {
				signing = append(signing, k.Kid)
			}
			ids = append(ids, k.Kid)
		}
		// GoTrue requires exactly one signing key and different ids.
		if len(signing) != 1 || signing[0] != set.Signer().ID {
			t.Errorf("%s: %v sign", round, signing)
		}
		if slices.Sort(ids); len(slices.Compact(ids)) != len(list) {
			t.Errorf("%s: duplicate id: %v", round, ids)
		}
		back, given, err := FromEnvironment(config.APIKeys{
			JWTSecret: v["JWT_SECRET"], JWTKeys: v["JWT_KEYS"], JWTJWKS: v["JWT_JWKS"], Anon: v["ANON_KEY"],
			ServiceRole: v["SERVICE_ROLE_KEY"], Publishable: v["SUPABASE_PUBLISHABLE_KEY"],
			Secret: v["SUPABASE_SECRET_KEY"], AnonAsymmetric: v["ANON_KEY_ASYMMETRIC"],
			ServiceRoleAsymmetric: v["SERVICE_ROLE_KEY_ASYMMETRIC"], Retired: v["RETIRED_KEYS"],
		})
		if err != nil || !given {
			t.Fatal(err)
		}
		if back.Signer().ID != set.Signer().ID {
			t.Errorf("%s: %s signs, not %s", round, back.Signer().ID, set.Signer().ID)
		}
		// The variables of the gateway and the functions are enough to verify tokens of the
		// previous key.
		half, _, err := FromEnvironment(config.APIKeys{JWTSecret: v["JWT_SECRET"], JWTKeys: v["JWT_KEYS"],
			Anon: v["ANON_KEY"], ServiceRole: v["SERVICE_ROLE_KEY"]})
		if err != nil {
			t.Fatal(err)
		}
		verifier := keys.NewVerifier(keys.Options{}, half.Verifying()...)
		for name, token := range tokens {
			if _, err := verifier.Verify(token); err != nil {
				t.Errorf("%s: a token of the %s key: %v", round, name, err)
			}
		}
		before := set
		if set, err = set.Rotate(now); err != nil {
			t.Fatal(err)
		}
		tokens = map[string]string{round: set.AnonToken, "previous": before.AnonToken}
	}
}

// variablesOf returns the variables for these keys.
func variablesOf(t *testing.T, set keys.Set) map[string]string {
	t.Helper()
	values, err := Environment(set)
	if err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{}
	for _, v := range values {
		variables[v.Name] = v.Value
	}
	return variables
}

// TestEnvironmentKeysNamesSetVariables checks that the error of a half-set environment names the
// variables that are set.
func TestEnvironmentKeysNamesSetVariables(t *testing.T) {
	_, _, err := FromEnvironment(config.APIKeys{Anon: "a-key", Publishable: "another"})
	if err == nil || !strings.Contains(err.Error(), "JWT_SECRET: is required") ||
		!strings.Contains(err.Error(), "ANON_KEY, SUPABASE_PUBLISHABLE_KEY; ") ||
		strings.Contains(err.Error(), "a-key") {
		t.Error(err)
	}
}
