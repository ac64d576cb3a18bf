package app

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"daawo/supabase/edge"
)

// denoFile matches the main file of a function in TypeScript or JavaScript.
var denoFile = regexp.MustCompile(`^index\.(ts|tsx|js|jsx|mjs)$`)

// denoFunctions returns the names of the project's functions in TypeScript that own, the functions
// in Go, do not replace. They are not run.
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

// denoAdvice says how to run a function in TypeScript.
const denoAdvice = "functions in TypeScript are not run here; run them with Supabase's edge-runtime and set FUNCTIONS_URL to its address, or write them in Go"

// skipDeno answers 501 to calls of functions in TypeScript, and logs their names.
func (f *hosting) skipDeno(next http.Handler) http.Handler {
	names := slices.DeleteFunc(denoFunctions(f.Project, f.Functions), func(name string) bool {
		_, err := os.Stat(filepath.Join(f.FunctionsDir, "functions", name))
		return f.FunctionsDir != "" && err == nil // the project has a function in Go of this name
	})
	if len(names) == 0 {
		return next
	}
	f.Log.Warn("functions skipped", "functions", names, "reason", denoAdvice)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if !slices.Contains(names, name) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Sb-Error-Code", "NOT_IMPLEMENTED")
		w.WriteHeader(http.StatusNotImplemented)
		_ = json.NewEncoder(w).Encode(map[string]string{ // the client may have disconnected
			"code": "NOT_IMPLEMENTED", "message": "function " + name + ": " + denoAdvice,
		})
	})
}
