package main

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/base/config"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/configuration.md")

// settings returns the settings that this product adds to the stack's.
func settings() config.Program {
	o := program()
	p := config.Program{Defaults: o.Defaults}
	for _, v := range o.Pages.Variables {
		p.Pages = append(p.Pages, config.PageVariable(v))
	}
	for _, v := range o.Variables {
		p.Others = append(p.Others, config.Variable(v))
	}
	return p
}

// TestProjectFile checks the config.toml of this project.
func TestProjectFile(t *testing.T) {
	file, err := os.ReadFile("config.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Sources{File: file, Name: "config.toml"})
	if err != nil {
		t.Fatal(err)
	}
	if b := c.Storage.Buckets["report-photos"]; b.Public || b.FileSizeLimit != 5<<20 || len(b.AllowedMimeTypes) != 8 {
		t.Errorf("bucket report-photos: %+v", b)
	}
	if slices.Contains(c.Ignored, "functions") {
		t.Error("config.toml has a [functions] section, for which the CLI requires Deno functions")
	}
}

// TestConfigurationReference compares docs/configuration.md with the output of config.Document.
func TestConfigurationReference(t *testing.T) {
	var want bytes.Buffer
	if err := config.Document(&want, settings()); err != nil {
		t.Fatal(err)
	}
	const path = "../docs/configuration.md"
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("docs/configuration.md is out of date; run: go test ./supabase -run TestConfigurationReference -update\n%s", diff)
	}
}

// TestEveryVariableIsDocumented checks that docs/configuration.md has every variable that the stack
// or the functions read. The senders of text messages have theirs in docs/functions.md.
func TestEveryVariableIsDocumented(t *testing.T) {
	page := func(name string) (text []byte) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	configuration, functions := page("../docs/configuration.md"), page("../docs/functions.md")
	read := regexp.MustCompile(`(?:[gG]etenv|LookupEnv|env\.Get)\("([A-Z][A-Z0-9_]+)"\)`)
	found := 0
	for _, top := range []string{".", "../functions"} {
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			page, title := configuration, "configuration.md"
			if strings.HasPrefix(name, "edge/sms/") {
				page, title = functions, "functions.md"
			}
			for _, match := range read.FindAllStringSubmatch(string(text), -1) {
				variable := match[1]
				if strings.HasPrefix(variable, "PGRST_") || strings.HasPrefix(variable, "GOTRUE_") {
					continue // a variable of the upstream image that this program replaces
				}
				found++
				if !bytes.Contains(page, []byte("`"+variable+"`")) {
					t.Errorf("docs/%s lacks %s, which %s reads", title, variable, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 4 {
		t.Errorf("found only %d variables; does the pattern still match?", found)
	}
}
