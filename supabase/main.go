// Command daawo is the whole product in one program: the medicine-safety site, the stack below it
// and its functions.
package main

import (
	"embed"

	"daawo/functions/product"
	"daawo/supabase/stack"
	"daawo/web"
)

// project is this product's project in the official CLI's format: configuration, migrations, seed.
//
//go:embed config.toml seed.sql migrations seed
var project embed.FS

// version is set by the release build.
var version = "dev"

func main() { stack.Main(program()) }

// program returns the options of the product with its files.
func program() stack.Options {
	o := product.Options()
	o.Version, o.Project, o.Site, o.Administration.Site = version, project, web.Files(), web.Desk()
	return o
}
