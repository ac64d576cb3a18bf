package cli

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// envFiles returns the variables of the project's .env files, for env(NAME) in config.toml. As with
// the official CLI, they are in supabase/ and in the folder above, and files of the first folder
// and more specific names come first. They set nothing else: a DATABASE_URL in them is the
// application's.
func envFiles(inv *Invocation, project selection) (func(string) (string, bool), error) {
	stage, _ := inv.Getenv("SUPABASE_ENV")
	stage = cmp.Or(stage, "development")
	values := map[string]string{}
	for _, dir := range []string{project.dir, project.home()} {
		for _, name := range []string{".env." + stage + ".local", ".env.local", ".env." + stage, ".env"} {
			if name == ".env.local" && stage == "test" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for key, value := range parseEnvFile(string(text)) {
				if _, earlier := values[key]; !earlier {
					values[key] = value
				}
			}
		}
	}
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }, nil
}

// parseEnvFile reads lines of the form NAME=value or export NAME=value. Quotes around a value are
// removed, # begins a comment. It skips other lines: the file belongs to the application.
func parseEnvFile(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || key == "" || strings.ContainsAny(key, "# \t\"'") {
			continue
		}
		if quote := value[:min(1, len(value))]; quote == `"` || quote == "'" {
			if end := strings.Index(value[1:], quote); end >= 0 {
				values[key] = value[1 : end+1]
				continue
			}
		}
		value, _, _ = strings.Cut(value, " #")
		values[key] = strings.TrimSpace(value)
	}
	return values
}
