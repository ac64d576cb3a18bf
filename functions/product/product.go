// Package product describes the medicine-safety product to the stack: its functions and commands,
// the settings of its pages, the texts of its mails, and the buckets whose photos lose their
// metadata.
//
// Only the program imports it.
package product

import (
	"daawo/functions"
	"daawo/functions/admin"
	"daawo/supabase/stack"
)

// Options returns the options of the product, except Version and the files: Project, Site and
// Administration.Site.
func Options() stack.Options {
	return stack.Options{
		Functions: functions.All, Commands: admin.Commands(), Prepare: admin.Prepare,
		Pages: stack.Pages{Variables: contactPages, FormError: []byte(formErrorPage), Texts: "page-texts"},
		Mail:  stack.Mail{Texts: mailTexts(), RowLink: admin.RowLink},
		Administration: stack.Administration{RowLink: admin.DeskLink, StartLinks: admin.StartLinks,
			Operators: []string{"system"}, StudioAccess: "private.is_owner()"},
		Variables: variables, Defaults: defaults, CleanBuckets: cleanBuckets, UserTables: []string{"public.reports"},
	}
}
