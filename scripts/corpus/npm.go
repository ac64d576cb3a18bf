package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// replacement is an address of modules, and where npm has the same ones.
type replacement struct {
	from *regexp.Regexp
	to   string
}

// std replaces serve of std/http, of which the first releases are on no host that npm serves.
const std = "data:application/javascript," +
	"export const serve=(h,o)=>Deno.serve(o??{},h);export const Server=class{};" +
	"export const encode=btoa;export const decode=atob;"

var replacements = []replacement{
	{regexp.MustCompile(`(?m)^\s*import\s+["'](?:jsr|https://esm\.sh)[^"']*edge-runtime\.d\.ts["'];?`), ""},
	{regexp.MustCompile(`https://deno\.land/x/(xhr|types)[^"']*`), "data:application/javascript,"},
	{regexp.MustCompile(`https://deno\.land/x/zod@(v?[^/"']+)[^"']*`), "npm:zod@3"},
	{regexp.MustCompile(`https://(?:esm\.sh|cdn\.skypack\.dev|cdn\.jsdelivr\.net/npm)/` +
		`(?:v\d+/)?((?:@[^/"'?]+/)?[^/"'?]+)((?:/[^"'?]*)?)(?:\?[^"']*)?(["'])`), "npm:$1$2$3"},
	{regexp.MustCompile(`jsr:(@supabase/[^"']+)`), "npm:$1"},
	{regexp.MustCompile(`jsr:@hono/hono`), "npm:hono"},
	{regexp.MustCompile(`https://deno\.land/std[^"']*/http/server\.ts`), std},
	{regexp.MustCompile(`https://deno\.land/std[^"']*/encoding/base64\.ts`), std},
}

// importFromNPM changes the sources below dir.
func importFromNPM(dir string) error {
	source := regexp.MustCompile(`\.(tsx?|jsx?|mjs|jsonc?)$`)
	return filepath.WalkDir(filepath.Join(dir, "functions"), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !e.Type().IsRegular() || !source.MatchString(name) {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, r := range replacements {
			text = r.from.ReplaceAll(text, []byte(r.to))
		}
		return os.WriteFile(name, text, 0o644)
	})
}
