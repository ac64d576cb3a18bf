package keyring

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
)

// FromEnvironment reads keys from the variables of Docker compose. given reports whether any of
// them is set.
func FromEnvironment(k config.APIKeys) (set keys.Set, given bool, err error) {
	set = keys.Set{
		JWTSecret: k.JWTSecret, Anon: k.Anon, ServiceRole: k.ServiceRole, Publishable: k.Publishable, Secret: k.Secret,
		AnonToken: k.AnonAsymmetric, ServiceRoleToken: k.ServiceRoleAsymmetric,
	}
	if k == (config.APIKeys{}) {
		return set, false, nil
	}
	for _, source := range []struct {
		name, text string
		to         *[]keys.Key
	}{{"JWT_KEYS", k.JWTKeys, &set.Signing}, {"JWT_JWKS", k.JWTJWKS, &set.Previous}} {
		if source.text == "" {
			continue
		}
		if *source.to, err = keys.ParseSet(source.text); err != nil {
			return set, true, fmt.Errorf("%s: %w", source.name, err)
		}
	}
	// A public key may belong to another service that signs, so it counts as replaced only if it is
	// marked so.
	all := append(set.Signing, set.Previous...)
	set.Previous = slices.DeleteFunc(slices.Clone(all), func(k keys.Key) bool { return !k.Replaced() })
	set.Signing = slices.DeleteFunc(all, keys.Key.Replaced)
	if set.Retired, err = parseRetired(k.Retired); err != nil {
		return set, true, err
	}
	for _, need := range []struct{ name, value string }{
		{"JWT_SECRET", k.JWTSecret}, {"ANON_KEY", k.Anon}, {"SERVICE_ROLE_KEY", k.ServiceRole},
	} {
		if need.value == "" {
			return set, true, fmt.Errorf("%s: is required if the environment sets another key, as it does now: %s; set it too, or `unset` those to use the keys of the data folder",
				need.name, strings.Join(setKeys(k), ", "))
		}
	}
	return set, true, nil
}

// setKeys returns the names of the variables of keys that are set.
func setKeys(k config.APIKeys) (names []string) {
	v := reflect.ValueOf(k)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			names = append(names, v.Type().Field(i).Tag.Get("env"))
		}
	}
	return names
}

// parseRetired parses RETIRED_KEYS.
func parseRetired(text string) (retired []keys.Retired, err error) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		key, day, _ := strings.Cut(word, "@")
		until, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return nil, fmt.Errorf("RETIRED_KEYS: an entry does not have the form KEY@2026-12-31")
		}
		retired = append(retired, keys.Retired{Key: key, Until: until})
	}
	return retired, nil
}

// Environment returns a set as variables for Docker compose. JWT_KEYS contains one key that
// signs, and the others only for verification: GoTrue does not start with two keys that sign.
func Environment(set keys.Set) ([]installation.Value, error) {
	verifyingKeys := withoutSigning(set.Verifying())
	signing, err := json.Marshal(append([]keys.Key{set.Signer()}, without(verifyingKeys, set.Signer())...))
	if err != nil {
		return nil, err
	}
	verifying, err := json.Marshal(struct {
		Keys []keys.Key `json:"keys"`
	}{verifyingKeys})
	if err != nil {
		return nil, err
	}
	var retired []string
	for _, old := range set.Retired {
		retired = append(retired, old.Key+"@"+old.Until.Format(time.DateOnly))
	}
	return []installation.Value{
		{Name: "JWT_SECRET", Value: set.JWTSecret},
		{Name: "JWT_KEYS", Value: string(signing)},
		{Name: "JWT_JWKS", Value: string(verifying)},
		{Name: "ANON_KEY", Value: set.Anon},
		{Name: "SERVICE_ROLE_KEY", Value: set.ServiceRole},
		{Name: "SUPABASE_PUBLISHABLE_KEY", Value: set.Publishable},
		{Name: "SUPABASE_SECRET_KEY", Value: set.Secret},
		{Name: "ANON_KEY_ASYMMETRIC", Value: set.AnonToken},
		{Name: "SERVICE_ROLE_KEY_ASYMMETRIC", Value: set.ServiceRoleToken},
		{Name: "RETIRED_KEYS", Value: strings.Join(retired, ",")},
	}, nil
}

// withoutSigning returns the keys without their private parts and without duplicates. Shared
// secrets stay, because verification needs them.
func withoutSigning(all []keys.Key) []keys.Key {
	out := make([]keys.Key, 0, len(all))
	for _, key := range all {
		out = append(without(out, key), key.CheckOnly())
	}
	return out
}

// without returns all keys whose id differs from other's.
func without(all []keys.Key, other keys.Key) []keys.Key {
	return slices.DeleteFunc(slices.Clone(all), func(k keys.Key) bool { return k.ID == other.ID })
}
