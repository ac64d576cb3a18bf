package cli

import (
	"context"
	"slices"
)

var statusCommand = Command{
	Name:  "status",
	Args:  "[-o env|json|pretty]",
	Short: "Print the addresses and keys of the running server",
	Long: `
The names are those of the official CLI, so that scripts written for it work:

  eval "$(daawo status -o env)"
  curl "$API_URL/rest/v1/notes" -H "apikey: $ANON_KEY"`,
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
		return usagef("-o %s: unknown format; the formats are env, json and pretty", format)
	}
	info, err := inv.status(ctx)
	if err != nil {
		return err
	}
	if info.Version != inv.Version {
		inv.warn("the running server has version %s, this program has version %s", info.Version, inv.Version)
	}
	return info.Write(inv.Stdout, format)
}
