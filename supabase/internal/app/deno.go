package app

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"daawo/supabase/edge"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/functions/host"
)

// denoFile matches the main file of a function in TypeScript or JavaScript.
var denoFile = regexp.MustCompile(`^index\.(ts|tsx|js|jsx|mjs)$`)

// denoFunctions returns the names of the project's functions in TypeScript that own, the functions
// in Go, do not replace.
func denoFunctions(project fs.FS, own map[string]edge.Func) []string {
	var names []string
	files, _ := fs.Glob(project, "functions/*/*") // the pattern is valid
	for _, file := range files {
		name := path.Base(path.Dir(file))
		_, replaced := own[name]
		hidden := strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")
		if denoFile.MatchString(path.Base(file)) && !replaced && !hidden && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// verified checks the token of requests to the functions in TypeScript at FUNCTIONS_URL, and to
// those of [functions] in config.toml without verify_jwt = false. Functions in Go of another
// process check it themselves. next may be nil.
func verified(in installation.Installation, k *keyring.Keyring, next http.Handler) http.Handler {
	if next == nil {
		return nil
	}
	var deno []string
	if in.Project != nil {
		deno = denoFunctions(in.Project, in.Functions)
	}
	return host.RequireToken(verifier(k), func(name string) bool {
		if f, ok := in.Config.Functions[name]; ok {
			return f.VerifyJWT
		}
		return slices.Contains(deno, name)
	}, next)
}

// verifier returns a function that returns the claims of a valid token.
func verifier(k *keyring.Keyring) func(token string) (json.RawMessage, error) {
	return func(token string) (json.RawMessage, error) {
		claims, err := k.Verifier().Verify(token)
		if err != nil {
			return nil, err
		}
		return claims.Raw, nil
	}
}
