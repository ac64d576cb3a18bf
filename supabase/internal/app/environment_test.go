package app

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"daawo/supabase/internal/config"
	"daawo/supabase/internal/keys"
)

// TestKeysOfTheComposeForm: the variables hold what the real services accept, and come back as the keys that they were,
// over two rotations.
func TestKeysOfTheComposeForm(t *testing.T) {
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
		// GoTrue wants exactly one key that signs, and keeps them by their ids.
		if len(signing) != 1 || signing[0] != set.Signer().ID {
			t.Errorf("%s: %v sign", round, signing)
		}
		if slices.Sort(ids); len(slices.Compact(ids)) != len(list) {
			t.Errorf("%s: an id is there twice: %v", round, ids)
		}
		back, given, err := environmentKeys(config.APIKeys{
			JWTSecret: v["JWT_SECRET"], JWTKeys: v["JWT_KEYS"], JWTJWKS: v["JWT_JWKS"], Anon: v["ANON_KEY"], ServiceRole: v["SERVICE_ROLE_KEY"],
			Publishable: v["SUPABASE_PUBLISHABLE_KEY"], Secret: v["SUPABASE_SECRET_KEY"], AnonAsymmetric: v["ANON_KEY_ASYMMETRIC"],
			ServiceRoleAsymmetric: v["SERVICE_ROLE_KEY_ASYMMETRIC"], Retired: v["RETIRED_KEYS"],
		})
		if err != nil || !given {
			t.Fatal(err)
		}
		if back.Signer().ID != set.Signer().ID {
			t.Errorf("%s: %s signs, not %s", round, back.Signer().ID, set.Signer().ID)
		}
		// What the gateway and the functions are given is enough to check the tokens of the key before.
		half, _, err := environmentKeys(config.APIKeys{JWTSecret: v["JWT_SECRET"], JWTKeys: v["JWT_KEYS"], Anon: v["ANON_KEY"], ServiceRole: v["SERVICE_ROLE_KEY"]})
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
		tokens = map[string]string{round: set.AnonToken, "one before": before.AnonToken}
	}
}

func variablesOf(t *testing.T, set keys.Set) map[string]string {
	t.Helper()
	values, err := EnvironmentOf(set)
	if err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{}
	for _, v := range values {
		variables[v.Name] = v.Value
	}
	return variables
}
