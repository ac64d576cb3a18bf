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
// AdminSite.
func Options() stack.Options {
	return stack.Options{
		Functions: functions.All, Commands: admin.Commands(), Prepare: admin.Prepare, StartLinks: admin.StartLinks,
		RowLink: admin.RowLink, AdminLink: admin.DeskLink, CleanBuckets: cleanBuckets,
		FormErrorPage: []byte(formErrorPage), Pages: contactPages, Variables: variables, Defaults: defaults,
		MailTexts: mailTexts(), UserTables: []string{"public.reports"},
	}
}
