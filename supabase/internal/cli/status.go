package cli

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"daawo/supabase/internal/app"
)

var statusCommand = Command{
	Name:  "status",
	Args:  "[-o env|json|pretty]",
	Short: "Print the addresses and keys of the running server",
	Long: `
The names are the official CLI's, so that its users' scripts work:

  eval "$(daawo status -o env)"
  curl "$API_URL/rest/v1/resources" -H "apikey: $ANON_KEY"`,
	Run: runStatus,
}

func runStatus(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	var format string
	inv.flags.StringVar(&format, "o", "pretty", "`format`: env, json or pretty")
	inv.flags.StringVar(&format, "output", "pretty", "the same as -o `format`")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if !slices.Contains([]string{"env", "json", "pretty"}, format) {
		return usagef("-o %s: the formats are env, json and pretty", format)
	}
	data, err := inv.running()
	if err != nil {
		return err
	}
	var info app.Info
	if err := app.Command(ctx, data, "/status", &info); err != nil {
		return err
	}
	if info.Version != inv.Version {
		fmt.Fprintf(inv.Stderr, "daawo: the running server is version %s, this program is %s\n", info.Version, inv.Version)
	}
	return info.Write(inv.Stdout, format)
}

// given says whether a flag was on the command line.
func (inv *Invocation) given(name string) bool {
	given := false
	inv.flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}
