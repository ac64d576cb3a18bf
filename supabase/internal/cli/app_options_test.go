package cli

import (
	"io/fs"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/app"
)

// ofProcess are the fields of app.Options that AppOptions leaves to its callers.
var ofProcess = []string{"Config", "Data", "AnyPort", "NamedPorts", "Dev", "FunctionsDir", "Foreign", "Log", "Now", "Added",
	"PostgresLog"}

// ofStack are the fields of app.Options that a project of other people keeps.
var ofStack = []string{"Project", "Postgres", "Getenv", "Version"}

// TestAppOptions checks that all that a program adds reaches the stack, and that nothing of it
// reaches a project of other people.
func TestAppOptions(t *testing.T) {
	env := &Env{}
	fill(t, reflect.ValueOf(env).Elem())
	for name, o := range map[string]app.Options{"own": env.AppOptions(), "foreign": env.stackOnly().AppOptions()} {
		for field, value := range reflect.ValueOf(o).Fields() {
			want := !slices.Contains(ofProcess, field.Name) && (name == "own" || slices.Contains(ofStack, field.Name))
			if !value.IsZero() != want {
				t.Errorf("%s project: %s is set: %v, want %v", name, field.Name, !want, want)
			}
		}
	}
}

// fill sets the fields of a struct to values other than zero.
func fill(t *testing.T, s reflect.Value) {
	for field, value := range s.Fields() {
		switch kind := value.Kind(); {
		case !field.IsExported(): // of the command line
		case field.Type == reflect.TypeFor[fs.FS]():
			value.Set(reflect.ValueOf(fstest.MapFS{}))
		case kind == reflect.String:
			value.SetString("x")
		case kind == reflect.Slice:
			value.Set(reflect.MakeSlice(field.Type, 1, 1))
		case kind == reflect.Map:
			value.Set(reflect.MakeMap(field.Type))
		case kind == reflect.Func:
			value.Set(reflect.MakeFunc(field.Type, func([]reflect.Value) []reflect.Value { return nil }))
		case kind == reflect.Interface, kind == reflect.Struct: // streams and settings, which app.Options has not
		default:
			t.Fatalf("%s: no value for a field of type %s", field.Name, field.Type)
		}
	}
}
