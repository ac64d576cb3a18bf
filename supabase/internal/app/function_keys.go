package app

import (
	"net/http"
	"slices"
	"strings"

	"daawo/supabase/internal/base/keys"
)

// processEnv returns the variables of the stack for functions in processes of their own. The
// database's role and the service keys are theirs, unless the project gives them those of the
// operator, or no jail keeps these away.
func (f *hosting) processEnv(jailed bool) (map[string]string, error) {
	env, roles := f.stackEnv(), f.Config.EdgeRuntime
	if roles.ActAsPostgres() || !jailed {
		env["SUPABASE_DB_URL"] = f.db.Public() // clients of JavaScript need a URL with a host
		return env, nil
	}
	url, err := f.functionsURL()
	if err != nil {
		return nil, err
	}
	env["SUPABASE_DB_URL"] = url
	if !slices.Contains(roles.DatabaseRoles, keys.RoleService) {
		delete(env, "SUPABASE_SERVICE_ROLE_KEY")
		delete(env, "SUPABASE_SECRET_KEY")
		return env, nil
	}
	set := f.keys.Current()
	env["SUPABASE_SERVICE_ROLE_KEY"], env["SUPABASE_SECRET_KEY"] = set.FunctionsServiceRole(), set.FunctionsSecret()
	return env, nil
}

// hideKeys puts the functions' keys in place of the operator's in the header of a call. The
// functions learn no other, and a comparison with their own holds.
func (f *hosting) hideKeys(header http.Header) {
	if f.Config.EdgeRuntime.ActAsPostgres() {
		return
	}
	set := f.keys.Current()
	for _, name := range []string{"Authorization", "Apikey", "Sb-Api-Key"} {
		scheme, key := "", header.Get(name)
		if token, ok := strings.CutPrefix(key, "Bearer "); ok {
			scheme, key = "Bearer ", token
		}
		switch key {
		case "":
		case set.ServiceRole:
			header.Set(name, scheme+set.FunctionsServiceRole())
		case set.Secret:
			header.Set(name, scheme+set.FunctionsSecret())
		}
	}
}
