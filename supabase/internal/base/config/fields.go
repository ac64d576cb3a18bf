package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// field is one setting. Load and Document find all fields with walk, so the documentation lists
// exactly the settings that are loaded.
type field struct {
	path  string // key in config.toml ("auth.email.otp_length"); "" for a variable
	env   string // variable; for a key of config.toml the CLI's override, SUPABASE_AUTH_EMAIL_OTP_LENGTH
	def   string // default of a variable, as text
	doc   string
	value reflect.Value // settable
}

// walk calls visit for every setting in the struct v. In maps (providers, buckets, …) it visits the
// existing entries.
func walk(v reflect.Value, path string, visit func(field) error) error {
	t := v.Type()
	for i := range t.NumField() {
		sf, fv := t.Field(i), v.Field(i)
		if !sf.IsExported() {
			continue
		}
		key, env := sf.Tag.Get("toml"), sf.Tag.Get("env")
		f := field{env: env, def: sf.Tag.Get("default"), doc: sf.Tag.Get("doc"), value: fv}
		if key != "" {
			f.path = strings.TrimPrefix(path+"."+key, ".")
			f.env = "SUPABASE_" + strings.ToUpper(strings.ReplaceAll(f.path, ".", "_"))
		}
		var err error
		switch {
		case f.doc != "":
			err = visit(f)
		case fv.Kind() == reflect.Struct:
			err = walk(fv, f.path, visit)
		case fv.Kind() == reflect.Map && fv.Type().Elem().Kind() == reflect.Struct:
			err = walkMap(fv, f.path, visit)
		case fv.Kind() == reflect.Map:
			for _, k := range fv.MapKeys() {
				entry := reflect.New(fv.Type().Elem()).Elem()
				entry.Set(fv.MapIndex(k))
				if err = visit(field{path: f.path + "." + k.String(), doc: sf.Tag.Get("each"),
					value: entry}); err != nil {
					break
				}
				fv.SetMapIndex(k, entry)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walkMap walks the structs in a map. It works on copies, because map entries cannot be set in
// place.
func walkMap(m reflect.Value, path string, visit func(field) error) error {
	for _, k := range m.MapKeys() {
		entry := reflect.New(m.Type().Elem()).Elem()
		entry.Set(m.MapIndex(k))
		if err := walk(entry, path+"."+k.String(), visit); err != nil {
			return err
		}
		m.SetMapIndex(k, entry)
	}
	return nil
}

// set parses text into the field.
func (f field) set(text string) error {
	if u, ok := f.value.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch f.value.Kind() {
	case reflect.String:
		f.value.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is not a boolean; use true or false", text)
		}
		f.value.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, f.value.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		f.value.SetInt(n)
	case reflect.Uint16:
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return fmt.Errorf("%q is not a port; use a number from 0 to 65535", text)
		}
		f.value.SetUint(n)
	case reflect.Slice:
		var words List
		_ = words.UnmarshalText([]byte(text)) // never fails
		f.value.Set(reflect.ValueOf([]string(words)))
	default:
		return fmt.Errorf("%s cannot be set from text", f.value.Type())
	}
	return nil
}
