package stack

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/cli"
)

// TestOptionsStayFew checks that wishes of one product are grouped.
func TestOptionsStayFew(t *testing.T) {
	if n := reflect.TypeFor[Options]().NumField(); n > 14 {
		t.Errorf("Options has %d fields, want at most 14: group them", n)
	}
}

// TestCommand runs a program's own command: its flags, arguments, usage errors, and its line in the
// help.
func TestCommand(t *testing.T) {
	greet := Command{Name: "greet", Args: "NAME [--loud]", Short: "Greet a person",
		Run: func(_ context.Context, c *Call) error {
			loud := c.Flags().Bool("loud", false, "add an exclamation mark")
			if err := c.Parse(1); err != nil {
				return err
			}
			if c.Arguments()[0] == "nothing" {
				return Usagef("name a person")
			}
			_, err := fmt.Fprint(c.Stdout(), "hello ", c.Arguments()[0],
				map[bool]string{true: "!"}[*loud && c.Given("loud")])
			return err
		}}
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"greet Amina --loud": {0, "hello Amina!"},
		"greet":              {2, "usage: clinic greet NAME [--loud]"},
		"greet nothing":      {2, "clinic: name a person"},
		"greet --help":       {0, "add an exclamation mark"},
		"--help":             {0, "Greet a person"},
		"reports":            {2, "not a command"},
	} {
		var out strings.Builder
		env := Options{Name: "clinic", Project: fstest.MapFS{}, Commands: []Command{greet}}.env()
		env.Args, env.Stdout, env.Stderr, env.Stdin = strings.Fields(line), &out, &out, strings.NewReader("")
		if code := cli.Main(t.Context(), env); code != want.code || !strings.Contains(out.String(), want.text) {
			t.Errorf("%s: %d %s, want %d %s", line, code, out.String(), want.code, want.text)
		}
	}
}
