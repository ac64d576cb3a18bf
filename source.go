// Package daawo holds the source of the packages with which a program of edge functions is built:
// supabase/edge, and the packages that serve functions in a process of their own. `daawo init
// --functions` writes them into a project, so that its functions compile without access to this
// repository.
//
// Only stack imports it.
package daawo

import "embed"

// Source is the source, in the folders of this module. The tests of supabase/internal/cli/project
// compare the folders with the imports.
//
//go:embed go.mod go.sum supabase/edge
//go:embed supabase/internal/database/pool supabase/internal/functions/host supabase/internal/functions/scaffold supabase/internal/base/keys supabase/internal/base/observe/logattr supabase/internal/base/mail supabase/internal/base/network
//go:embed supabase/internal/functions/jobs supabase/internal/base/atomicfile supabase/internal/base/photo supabase/internal/base/tempdir supabase/internal/base/tracing supabase/stack/child
//go:embed supabase/edgetest
var Source embed.FS
