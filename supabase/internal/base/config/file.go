package config

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// readFile decodes config.toml over the defaults and returns the keys that the file sets.
func (c *Config) readFile(s Sources) (map[string]bool, error) {
	r := reader{defined: map[string]bool{}, unset: map[string]string{}, lookup: func(name string) (string, bool) {
		for _, look := range []func(string) (string, bool){s.Getenv, s.Expand} {
			if look == nil {
				continue
			}
			if v, ok := look(name); ok {
				return v, true
			}
		}
		return "", false
	}}
	if s.File == nil {
		return r.defined, nil
	}
	file := map[string]any{}
	if _, err := toml.Decode(string(s.File), &file); err != nil {
		if pe, ok := errors.AsType[toml.ParseError](err); ok {
			// Not ErrorWithPosition: it quotes lines, which may contain passwords, and panics on
			// lines that end in \r.
			return nil, fmt.Errorf("%s: %s", s.Name, strings.TrimPrefix(pe.Error(), "toml: "))
		}
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if name, err := applyRemote(file, s.Getenv); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	} else if name != "" {
		c.Warnings = append(c.Warnings, "the settings of [remotes."+name+
			"] are used, because its project_id is the project's")
	}
	modernize(file)
	r.table(reflect.ValueOf(&c.Project).Elem(), file, "")
	c.Ignored, c.unset = r.ignored, r.unset
	c.Warnings = append(c.Warnings, r.warnings...)
	if len(r.errs) > 0 {
		return nil, fmt.Errorf("%s: %w", s.Name, errors.Join(r.errs...))
	}
	return r.defined, nil
}

// applyRemote merges the section [remotes.NAME] with the project's project_id into the file, as the
// CLI does, and returns its name. Such a section without db.seed.enabled disables the seed.
func applyRemote(file map[string]any, getenv func(string) (string, bool)) (string, error) {
	remotes, _ := file["remotes"].(map[string]any)
	delete(file, "remotes")
	id, _ := file["project_id"].(string)
	if getenv != nil {
		if v, ok := getenv("SUPABASE_PROJECT_ID"); ok && v != "" {
			id = v
		}
	}
	found := ""
	for _, name := range slices.Sorted(maps.Keys(remotes)) {
		remote, ok := remotes[name].(map[string]any)
		if !ok || id == "" || remote["project_id"] != id {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("remotes.%s and remotes.%s have the same project_id", found, name)
		}
		found = name
		db, _ := remote["db"].(map[string]any)
		seed, _ := db["seed"].(map[string]any)
		if _, ok := seed["enabled"]; !ok {
			merge(file, map[string]any{"db": map[string]any{"seed": map[string]any{"enabled": false}}})
		}
		merge(file, remote)
	}
	return found, nil
}

// merge puts the values of from into to, table by table.
func merge(to, from map[string]any) {
	for name, value := range from {
		inner, ok := value.(map[string]any)
		old, both := to[name].(map[string]any)
		if ok && both {
			merge(old, inner)
			continue
		}
		to[name] = value
	}
}

// modernize gives sections and keys the names that Project has: [inbucket] is [local_smtp],
// enable_signup of [auth.email] and [auth.sms] is enabled. As with the CLI, a section
// [auth.email.smtp] without the key enabled is enabled, and one of [functions] has enabled and
// verify_jwt.
func modernize(file map[string]any) {
	if old, ok := file["inbucket"]; ok {
		if _, both := file["local_smtp"]; !both {
			file["local_smtp"] = old
		}
		delete(file, "inbucket")
	}
	auth, _ := file["auth"].(map[string]any)
	for _, name := range []string{"email", "sms"} {
		section, _ := auth[name].(map[string]any)
		if v, ok := section["enable_signup"]; ok {
			if _, both := section["enabled"]; !both {
				section["enabled"] = v
			}
			delete(section, "enable_signup")
		}
	}
	functions, _ := file["functions"].(map[string]any)
	for _, value := range functions {
		section, _ := value.(map[string]any)
		for _, key := range []string{"enabled", "verify_jwt"} {
			if section != nil && section[key] == nil {
				section[key] = true
			}
		}
	}
	email, _ := auth["email"].(map[string]any)
	if smtp, ok := email["smtp"].(map[string]any); ok && len(smtp) > 0 {
		if _, ok := smtp["enabled"]; !ok {
			smtp["enabled"] = true
		}
	}
}

// reader decodes tables of config.toml into the structs of Project.
type reader struct {
	lookup   func(string) (string, bool)
	defined  map[string]bool   // keys that the file sets
	unset    map[string]string // keys whose value is env(NAME) of a variable that is not set, with the variable
	ignored  []string
	warnings []string
	errs     []error
}

func (r *reader) failf(key, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
}

// table decodes a table into the struct v, whose keys start with path.
func (r *reader) table(v reflect.Value, in map[string]any, path string) {
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("toml"); key != "" {
			fields[key] = v.Field(i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		key := strings.TrimPrefix(path+"."+name, ".")
		if to, ok := fields[name]; ok {
			r.value(to, in[name], key)
			continue
		}
		r.leftover(in[name], key, fields)
	}
}

// leftover records a key that no struct has: one that only the CLI reads, or a mistake.
func (r *reader) leftover(value any, key string, fields map[string]reflect.Value) {
	if _, ok := reasonOf(key); ok {
		r.ignored = append(r.ignored, key)
		return
	}
	if inner, ok := value.(map[string]any); ok && isPrefix(key) {
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			r.leftover(inner[name], key+"."+name, nil)
		}
		return
	}
	text := fmt.Sprintf("unknown key %q", key)
	if near := nearest(key, fields); near != "" {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	}
	r.warnings = append(r.warnings, text)
}

// variable matches a value that names a variable, as in the CLI.
var variable = regexp.MustCompile(`^env\((.*)\)$`)

// expand replaces env(NAME) by the variable's value. It returns false if the variable is not set.
func (r *reader) expand(text, key string) (string, bool) {
	m := variable.FindStringSubmatch(text)
	if m == nil {
		return text, true
	}
	if v, ok := r.lookup(m[1]); ok && v != "" {
		return v, true
	}
	r.unset[key] = m[1]
	return "", false
}

// value decodes one value. A text is parsed for settings of other types, as in the CLI.
func (r *reader) value(to reflect.Value, raw any, key string) {
	r.defined[key] = true
	if text, ok := raw.(string); ok {
		expanded, set := r.expand(text, key)
		if !set && to.Kind() != reflect.String {
			delete(r.defined, key)
			return // the default stays
		}
		raw = expanded
	}
	switch inner, isTable := raw.(map[string]any); {
	case isTable && to.Kind() == reflect.Struct:
		r.table(to, inner, key)
	case isTable && to.Kind() == reflect.Map:
		r.entries(to, inner, key)
	case isTable || to.Kind() == reflect.Struct || to.Kind() == reflect.Map:
		r.failf(key, "is not a value of this type; see docs/configuration.md")
	default:
		r.leaf(to, raw, key)
	}
}

// entries decodes a table with names of the operator's choice.
func (r *reader) entries(to reflect.Value, in map[string]any, key string) {
	if to.IsNil() {
		to.Set(reflect.MakeMap(to.Type()))
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		entry := reflect.New(to.Type().Elem()).Elem()
		if old := to.MapIndex(reflect.ValueOf(name)); old.IsValid() {
			entry.Set(old)
		}
		r.value(entry, in[name], key+"."+name)
		to.SetMapIndex(reflect.ValueOf(name), entry)
	}
}

func (r *reader) leaf(to reflect.Value, raw any, key string) {
	if t, ok := to.Addr().Interface().(toml.Unmarshaler); ok {
		if err := t.UnmarshalTOML(raw); err != nil {
			r.failf(key, "%v", err)
		}
		return
	}
	if list, ok := raw.([]any); ok && to.Kind() == reflect.Slice {
		words := make([]string, 0, len(list))
		for _, word := range list {
			text, ok := word.(string)
			if !ok {
				r.failf(key, "has the value %v, texts in quotes are needed", word)
				return
			}
			if text, set := r.expand(text, key); set {
				words = append(words, text)
			}
		}
		to.Set(reflect.ValueOf(words))
		return
	}
	if _, isList := raw.([]any); isList {
		r.failf(key, "is a list, one value is needed")
		return
	}
	text := fmt.Sprint(raw)
	if _, custom := to.Addr().Interface().(encoding.TextUnmarshaler); to.Kind() == reflect.String && !custom {
		if _, quoted := raw.(string); !quoted {
			r.failf(key, "is %v, a text in quotes is needed", raw) // 1.10 would be 1.1
			return
		}
	}
	if err := (field{value: to}).set(text); err != nil {
		r.failf(key, "%v", err)
	}
}
