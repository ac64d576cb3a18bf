// Command daawo is the whole product in one program: the site, its backend and its functions.
package main

import "embed"

// Files is what the `supabase` command line knows of the project: configuration, migrations, seed.
//
//go:embed config.toml seed.sql migrations seed
var Files embed.FS
