package cli

import (
	"reflect"
	"slices"
	"testing"
	"testing/fstest"
)

// ofStack are the fields of app.Options that a project of other people keeps.
var ofStack = []string{"Project", "Postgres", "Getenv", "Version"}

// TestStackOnly checks that nothing of what a program adds reaches a project of other people.
func TestStackOnly(t *testing.T) {
	env := &Env{}
	env.Project, env.Site, env.AdminSite = fstest.MapFS{}, fstest.MapFS{}, fstest.MapFS{}
	for field, value := range reflect.ValueOf(&env.Options).Elem().Fields() {
		switch field.Type.Kind() {
		case reflect.String:
			value.SetString("x")
		case reflect.Bool:
			value.SetBool(true)
		case reflect.Slice:
			value.Set(reflect.MakeSlice(field.Type, 1, 1))
		case reflect.Map:
			value.Set(reflect.MakeMap(field.Type))
		case reflect.Func:
			value.Set(reflect.MakeFunc(field.Type, func([]reflect.Value) []reflect.Value { return nil }))
		case reflect.Pointer:
			value.Set(reflect.New(field.Type.Elem()))
		}
		if value.IsZero() {
			t.Fatalf("%s: no value for a field of type %s", field.Name, field.Type)
		}
	}
	for field, value := range reflect.ValueOf(env.stackOnly().Options).Fields() {
		if want := slices.Contains(ofStack, field.Name); !value.IsZero() != want {
			t.Errorf("%s is set: %v, want %v", field.Name, !want, want)
		}
	}
}
