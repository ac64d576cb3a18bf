package cli

import (
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/parts"
)

var denoCommand = Command{
	Name:  "deno",
	Short: "Add Deno, which runs functions in TypeScript, to the project, or remove it",
	Long: `
add fetches Deno's package for this machine with the npm that is installed, and records its digest in
supabase/parts.lock, which every later download must match. A Deno in DENO_PATH, in PATH or in the project's
node_modules is used first.

  daawo deno add
  daawo deno add --from deno-linux-x64-glibc.tgz    without a network`,
	Verbs: addable{title: "Deno", part: deno.Part,
		source: func(*config.Config, func(done, total int64)) parts.Source { return parts.NPM(deno.Package()) }}.verbs(),
}
