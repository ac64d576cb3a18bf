package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/config"
	"daawo/supabase/internal/keys"
)

var keysCommand = Command{
	Name:  "keys",
	Args:  "[show|rotate|generate] [FLAGS]",
	Short: "Show, replace or make the keys of an installation",
	Long: `
show       prints the API keys of the installation (the default)
rotate     replaces every key. A running server takes the new ones at once, and the old secret keys end. Sessions and
           links that the old keys signed go on until they expire or the next rotation, the old publishable key for
           30 days, since pages kept offline go on using it. Servers that share a database (DATABASE_URL) all take them.
           With --leaked nothing is accepted that the old keys signed: for when who should not has the file of keys, or
           the database or the environment that holds them
generate   prints fresh keys as the variables of the compose form, and changes nothing

  daawo keys rotate --env-file .env     replaces them in a compose form's .env, always as with --leaked, since the
                                        images there tell no session from a key; then: docker compose up -d`,
	Run: runKeys,
}

func runKeys(ctx context.Context, inv *Invocation) error {
	action := "show"
	if len(inv.args) > 0 && !strings.HasPrefix(inv.args[0], "-") {
		action, inv.args = inv.args[0], inv.args[1:]
	}
	inv.dataFlag()
	var envFile string
	var password, leaked bool
	if action == "rotate" {
		inv.flags.BoolVar(&leaked, "leaked", false, "accept nothing that the old keys signed; sessions and signed links end, too")
		inv.flags.StringVar(&envFile, "env-file", "", "rotate the keys in this `file` of variables instead")
		inv.flags.BoolVar(&password, "database-password", false, "replace the database's password, too; it is taken into use by the next start")
	}
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	switch action {
	case "show":
		return showKeys(ctx, inv)
	case "rotate":
		if envFile != "" {
			return rotateFile(ctx, envFile, password)
		}
		rotate := keys.Set.Rotate
		if leaked {
			rotate = keys.Set.Replace
		}
		return rotateKeys(ctx, inv, password, rotate)
	case "generate":
		set, err := keys.Generate(time.Now())
		if err != nil {
			return err
		}
		return printEnvironment(inv, set)
	}
	return usagef("keys %s: the actions are show, rotate and generate", action)
}

func showKeys(ctx context.Context, inv *Invocation) error {
	c, data, err := inv.installation()
	if err != nil {
		return err
	}
	set, err := app.LoadKeys(ctx, c, data)
	if err != nil {
		return err
	}
	if set.IsDemo() {
		fmt.Fprintln(inv.Stderr, "daawo: these are the official CLI's local keys, which everybody knows; they work on loopback only")
	}
	return app.Info{Values: []app.Value{
		{Name: "PUBLISHABLE_KEY", Label: "Publishable key", Value: set.Publishable},
		{Name: "SECRET_KEY", Label: "Secret key", Value: set.Secret},
		{Name: "ANON_KEY", Label: "anon key", Value: set.Anon},
		{Name: "SERVICE_ROLE_KEY", Label: "service_role key", Value: set.ServiceRole},
	}}.Write(inv.Stdout, "pretty")
}

func rotateKeys(ctx context.Context, inv *Invocation, password bool, rotate app.Rotation) error {
	c, data, err := inv.installation()
	if err != nil {
		return err
	}
	if password && c.DatabaseURL != "" {
		return usagef("--database-password: the database is given by DATABASE_URL; change the password there")
	}
	everywhere, err := app.RotateKeys(ctx, c, data, rotate)
	if err != nil {
		return err
	}
	if everywhere {
		fmt.Fprintln(inv.Stdout, "rotated; every running server uses the new keys")
		return nil
	}
	if password {
		if err := app.NewDatabasePassword(data); err != nil {
			return err
		}
	}
	var reply struct{}
	err = app.Command(ctx, data, "/keys/reload", &reply)
	switch {
	case errors.Is(err, app.ErrNotRunning):
		fmt.Fprintln(inv.Stdout, "rotated; the next start uses the new keys")
	case err != nil:
		return fmt.Errorf("the keys are rotated, but the running server accepts the old ones until it is restarted; restart it: %w", err)
	default:
		fmt.Fprintln(inv.Stdout, "rotated; the running server uses the new keys")
	}
	return nil
}

// installation is the configuration and the data folder of this command line.
func (inv *Invocation) installation() (*config.Config, string, error) {
	c, err := inv.config()
	if err != nil {
		return nil, "", err
	}
	data, err := inv.dataDir(c)
	return c, data, err
}

func printEnvironment(inv *Invocation, set keys.Set) error {
	values, err := app.EnvironmentOf(set)
	for _, v := range values {
		fmt.Fprintf(inv.Stdout, "%s='%s'\n", v.Name, v.Value) // keys hold no quotes of this kind
	}
	return err
}

// rotateFile replaces the keys in a file of NAME=value lines and leaves everything else as it is. Nothing of the old ones is
// kept: the images that read the file accept every token of every key that they are given, a stolen API key, too.
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
		for _, prefix := range []string{"JWT_", "ANON_", "SERVICE_ROLE_", "SUPABASE_PUBLISHABLE_", "SUPABASE_SECRET_", "RETIRED_"} {
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
		return fmt.Errorf("%s: %w: there are no keys in it", name, fs.ErrNotExist)
	}
	set, err := app.LoadKeys(ctx, c, "")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if set, err = set.Replace(time.Now()); err != nil {
		return err
	}
	values, err := app.EnvironmentOf(set)
	if err != nil {
		return err
	}
	if password {
		values = append(values, app.Value{Name: "POSTGRES_PASSWORD", Value: rand.Text()})
	}
	return os.WriteFile(name, []byte(replaceLines(string(text), values)), info.Mode().Perm()) // in place: it may be mounted
}

// replaceLines sets every line that gives one of the values, since the last of several counts, and adds what is missing.
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
