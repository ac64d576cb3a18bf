// Command daawo is the whole product in one program: the medicine-safety site, the stack below it and its functions.
package main

import (
	"embed"

	"daawo/functions"
	"daawo/functions/admin"
	"daawo/supabase/stack"
	"daawo/web"
)

// project is this product's project in the official CLI's format: configuration, migrations, seed.
//
//go:embed config.toml seed.sql migrations seed
var project embed.FS

// version is set by the release build.
var version = "dev"

func main() { stack.Main(product()) }

// product describes the program.
func product() stack.Options {
	return stack.Options{
		Version: version, Project: project, Site: web.Files(), AdminSite: web.Desk(), Functions: functions.All, Commands: admin.Commands(),
		Prepare: admin.Prepare, StartLinks: admin.StartLinks, CleanBuckets: cleanBuckets,
		FormErrorPage: []byte(formErrorPage), Pages: contactPages, Variables: variables, Defaults: defaults, RowLink: admin.RowLink, AdminLink: admin.DeskLink,
		MailTexts: mailTexts(), UserTables: []string{"public.reports"},
	}
}
