// Package functions is the registry: the name in the URL of every function of the project.
//
// The stack imports it, functions import nothing but supabase/edge.
package functions

import (
	pagetexts "daawo/functions/page-texts"
	"daawo/functions/prune"
	resourcelist "daawo/functions/resource-list"
	staffinvite "daawo/functions/staff-invite"
	submitreport "daawo/functions/submit-report"
	"daawo/functions/system"
	trackdownload "daawo/functions/track-download"
	weeklydigest "daawo/functions/weekly-digest"
	"daawo/supabase/edge"
)

// All is every function by its name in the URL, which is also its folder's name.
var All = map[string]edge.Func{
	"page-texts":     pagetexts.Func,
	"prune":          prune.Func,
	"resource-list":  resourcelist.Func,
	"staff-invite":   staffinvite.Func,
	"submit-report":  submitreport.Func,
	"system":         system.Func,
	"track-download": trackdownload.Func,
	"weekly-digest":  weeklydigest.Func,
}
