package cli

import "daawo/supabase/internal/functions/edgeruntime"

var edgeRuntimeCommand = Command{
	Name:  "edge-runtime",
	Short: "Add Supabase's Edge Runtime, a second way to run functions in TypeScript, or remove it",
	Long: `
Supabase publishes its Edge Runtime as an archive that runs without Docker. add downloads it for this machine, checks it
against the digests of its release, and records its digest in supabase/parts.lock, which every later download must
match. It runs the functions in place of Deno with this in config.toml:

  [edge_runtime]
  distribution = "supabase"

  daawo edge-runtime add
  daawo edge-runtime add --from edge-runtime.tar.zst    without a network`,
	Verbs: addable{title: "Supabase's Edge Runtime", part: edgeruntime.Part, source: released}.verbs(),
}
