package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"daawo/supabase/internal/app"
)

var statusCommand = Command{
	Name:  "status",
	Args:  "[-o env|json|toml|yaml|pretty] [--override-name KEY=NAME]",
	Short: "Print the addresses and keys of the running server",
	Long: `
The official CLI has the same names, so that scripts written for it work:

  eval "$(daawo status -o env)"
  curl "$API_URL/rest/v1/notes" -H "apikey: $ANON_KEY"
  daawo status -o env --override-name api.url=NEXT_PUBLIC_SUPABASE_URL > .env.local`,
	Run: runStatus,
}

// statusFormats are the formats of `status`.
var statusFormats = []string{"env", "json", "toml", "yaml", "pretty"}

// overridable maps the keys of --override-name to the names of the values.
var overridable = map[string]string{
	"api.url": "API_URL", "api.rest_url": "REST_URL", "api.graphql_url": "GRAPHQL_URL",
	"api.functions_url": "FUNCTIONS_URL", "api.storage_s3_url": "STORAGE_S3_URL", "db.url": "DB_URL",
	"studio.url": "STUDIO_URL", "inbucket.url": "INBUCKET_URL", "mailpit.url": "MAILPIT_URL",
	"auth.publishable_key": "PUBLISHABLE_KEY", "auth.secret_key": "SECRET_KEY", "auth.jwt_secret": "JWT_SECRET",
	"auth.anon_key": "ANON_KEY", "auth.service_role_key": "SERVICE_ROLE_KEY",
	"storage.s3_access_key_id":     "S3_PROTOCOL_ACCESS_KEY_ID",
	"storage.s3_secret_access_key": "S3_PROTOCOL_ACCESS_KEY_SECRET", "storage.s3_region": "S3_PROTOCOL_REGION",
}

func runStatus(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	var format string
	inv.flags.StringVar(&format, "o", "pretty", "`format`: "+strings.Join(statusFormats, ", "))
	inv.flags.StringVar(&format, "output", "pretty", "the same as -o `format`")
	names := map[string]string{} // by the name that they replace
	inv.flags.Func("override-name", "`KEY=NAME` renames a value, such as api.url=SUPABASE_URL; may be repeated",
		func(text string) error { return override(names, text) })
	inv.ignore([]string{"ignore-health-check"}, "exclude")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if !slices.Contains(statusFormats, format) {
		return usagef("-o %s: unknown format; the formats are %s", format, strings.Join(statusFormats, ", "))
	}
	info, err := inv.status(ctx)
	if err != nil {
		return err
	}
	if info.Version != inv.Version {
		inv.warn("the running server has version %s, this program has version %s", info.Version, inv.Version)
	}
	for i, v := range info.Values {
		if name, ok := names[v.Name]; ok {
			info.Values[i].Name = name
		}
	}
	switch format {
	case "toml", "yaml":
		return writeStatus(inv, info, map[string]string{"toml": " = ", "yaml": ": "}[format])
	}
	return info.Write(inv.Stdout, format)
}

// override reads a value of --override-name.
func override(names map[string]string, text string) error {
	key, name, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is not of the form KEY=NAME", text)
	}
	value, ok := overridable[key]
	if !ok {
		return fmt.Errorf("%q is no key of a value, such as api.url or auth.anon_key", key)
	}
	names[value] = name
	return nil
}

// writeStatus prints the values as TOML or YAML. A JSON string is a string in both.
func writeStatus(inv *Invocation, info app.Info, between string) error {
	for _, v := range info.Values {
		if _, err := fmt.Fprintf(inv.Stdout, "%s%s%q\n", v.Name, between, v.Value); err != nil {
			return err
		}
	}
	return nil
}
