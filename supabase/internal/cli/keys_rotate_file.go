package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/config"
)

// keyVariables are the prefixes of the variables that hold keys.
var keyVariables = []string{"JWT_", "ANON_", "SERVICE_ROLE_", "SUPABASE_PUBLISHABLE_", "SUPABASE_SECRET_", "RETIRED_"}

// rotateFile replaces the keys in a file of NAME=value lines and leaves all other lines as they
// are. It keeps no old key for verification: the upstream images that read the file would also
// accept stolen API keys signed with it.
func rotateFile(ctx context.Context, name string, password bool) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	variables := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			variables[key] = strings.Trim(value, `'"`)
		}
	}
	c, err := config.Load(config.Sources{Getenv: func(key string) (string, bool) {
		for _, prefix := range keyVariables {
			if strings.HasPrefix(key, prefix) {
				v, ok := variables[key]
				return v, ok
			}
		}
		return "", false
	}})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if c.Keys == (config.APIKeys{}) {
		return fmt.Errorf("%s: it contains no keys: %w", name, fs.ErrNotExist)
	}
	set, err := keyring.Load(ctx, c, "")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if set, err = set.Replace(time.Now()); err != nil {
		return err
	}
	values, err := keyring.Environment(set)
	if err != nil {
		return err
	}
	if password {
		values = append(values, app.Value{Name: "POSTGRES_PASSWORD", Value: rand.Text()})
	}
	return replaceFile(name, info, replaceLines(string(text), values))
}

// replaceFile replaces the content of a file by a new file. It writes into a file that is a mount
// itself, which cannot be replaced; if that fails, the error names the new file, which stays.
func replaceFile(name string, info fs.FileInfo, text string) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	f, err := createPart(name)
	if err != nil {
		return err
	}
	part := f.Name()
	_, err = f.WriteString(text)
	owner, ok := info.Sys().(*syscall.Stat_t)
	if ok && os.Geteuid() == 0 {
		err = errors.Join(err, f.Chown(int(owner.Uid), int(owner.Gid)))
	}
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close()); err == nil {
		err = syncAndRename(part, name)
	}
	if !errors.Is(err, syscall.EBUSY) {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
		return err
	}
	if err := os.WriteFile(name, []byte(text), info.Mode().Perm()); err != nil {
		return fmt.Errorf("%w: the new content is in %s: copy it to %s", err, part, name)
	}
	return os.Remove(part)
}

// replaceLines sets the values in a text of NAME=value lines and appends missing ones. It sets
// every line of a name, because the last one counts.
func replaceLines(text string, values []app.Value) string {
	var out strings.Builder
	given, seen := map[string]string{}, map[string]bool{}
	for _, v := range values {
		given[v.Name] = v.Value
	}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if value, ok := given[name]; ok {
			line, seen[name] = name+"='"+value+"'\n", true
		}
		out.WriteString(line)
	}
	for _, v := range values {
		if seen[v.Name] {
			continue
		}
		if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
			out.WriteByte('\n')
		}
		out.WriteString(v.Name + "='" + v.Value + "'\n")
	}
	return out.String()
}
