package fnhost

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ReadEnvFile reads a file of NAME=value lines, as functions/.env is. Values may stand in single quotes, which keep
// everything, or in double quotes, where \n is a line end; # begins a comment. A missing file is an empty one.
func ReadEnvFile(name string) (map[string]string, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	values := map[string]string{}
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsAny(key, " \t\"'") {
			return nil, fmt.Errorf("%s:%d: not NAME=value", name, n)
		}
		if strings.HasPrefix(key, "SUPABASE_") { // as with Supabase: these are set by the stack
			return nil, fmt.Errorf("%s:%d: names that begin with SUPABASE_ are the stack's own", name, n)
		}
		values[key] = unquote(strings.TrimSpace(value))
	}
	return values, lines.Err()
}

func unquote(value string) string {
	switch {
	case len(value) >= 2 && value[0] == '\'' && value[len(value)-1] == '\'':
		return value[1 : len(value)-1]
	case len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"':
		return strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(value[1 : len(value)-1])
	}
	before, _, _ := strings.Cut(value, " #")
	return strings.TrimSpace(before)
}

// Lookup finds a variable: the stack's own first, then the file's, then the process's.
func Lookup(own, file map[string]string, process func(string) (string, bool)) func(string) string {
	return func(name string) string {
		if v, ok := own[name]; ok {
			return v
		}
		if v, ok := file[name]; ok {
			return v
		}
		v, _ := process(name)
		return v
	}
}
