// Package daawo holds the source of the packages with which a program of edge functions is built: functions/edge, and the
// packages that serve functions in a process of their own. `daawo init --functions` writes them into a project, so that its
// functions compile without access to this repository.
//
// Only stack imports it.
package daawo

import "embed"

// Source is the source, in the folders of this module. The tests of supabase/internal/project compare the folders with the
// imports.
//
//go:embed go.mod go.sum functions/edge
//go:embed supabase/internal/db supabase/internal/fnhost supabase/internal/keys supabase/internal/logattr supabase/internal/mail
//go:embed supabase/internal/outbox supabase/internal/photo supabase/internal/tempdir supabase/internal/tracing supabase/stack/child
//go:embed supabase/stack/functiontest
var Source embed.FS
