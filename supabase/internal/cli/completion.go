package cli

import (
	"context"

	"daawo/supabase/internal/cli/complete"
)

var completionCommand = Command{
	Name:  "completion",
	Short: "Print a script that completes commands and flags in a shell",
	Long: `
  source <(daawo completion bash)                                            in ~/.bashrc
  daawo completion zsh > "${fpath[1]}/_daawo"                                once; needs compinit
  daawo completion fish > ~/.config/fish/completions/daawo.fish              once`,
	Verbs: []Command{
		{Name: "bash", Short: "Print the script for bash", Run: completionOf(complete.Bash)},
		{Name: "zsh", Short: "Print the script for zsh", Run: completionOf(complete.Zsh)},
		{Name: "fish", Short: "Print the script for fish", Run: completionOf(complete.Fish)},
	},
}

// completionOf returns the function that prints the script of a shell.
func completionOf(script func(program string, all []complete.Command) string) func(context.Context, *Invocation) error {
	return func(ctx context.Context, inv *Invocation) error {
		inv.ignore([]string{"no-descriptions"})
		if err := inv.parse(0, 0); err != nil {
			return err
		}
		all := inv.describe(ctx)
		_, err := inv.Stdout.Write([]byte(script(inv.Name, all)))
		return err
	}
}
