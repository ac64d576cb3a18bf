package host

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ReadEnvFile reads a file of NAME=value lines, such as functions/.env. Single quotes keep a value
// as it is; in double quotes \n is a line break; # begins a comment. A missing file has no
// variables.
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
		if strings.HasPrefix(key, "SUPABASE_") { // as with Supabase, the stack sets these
			return nil, fmt.Errorf("%s:%d: names that begin with SUPABASE_ are reserved", name, n)
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

// Lookup returns a function that looks up a variable: first in the stack's, then in the file's,
// then the environment's.
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
