package cli

import "daawo/supabase/internal/app/studio"

var studioCommand = Command{
	Name:  "studio",
	Short: "Add Supabase Studio to the project, or remove it",
	Long: `
Supabase publishes Studio as an archive that runs without Docker. add downloads it for this machine, checks it against
the digests of its release, and records its digest in supabase/parts.lock, which every later download must match. A
running server serves it on its port at once: it starts at the first request and ends after 15 idle minutes.

  daawo studio add
  daawo studio add --from studio.tar.zst    without a network`,
	Verbs: addable{title: "Supabase Studio", part: studio.Part, source: released}.verbs(),
}
