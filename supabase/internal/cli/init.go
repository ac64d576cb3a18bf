package cli

import (
	"context"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"

	"daawo/supabase/internal/cli/project"
)

var initCommand = Command{
	Name:  "init",
	Args:  "[DIR] [--functions] [--force]",
	Short: "Write the files of a new project",
	Long: `
Writes supabase/ with config.toml, a first migration and seed.sql, in the format of the official CLI. --functions adds a Go
module with a first edge function and the packages that functions import; in an existing project it adds them, or replaces the
packages by those of this release. If Go can download the packages at this program's version, the module requires them instead.

  daawo init shop && cd shop && daawo start`,
	Run: runInit,
}

func runInit(_ context.Context, inv *Invocation) error {
	functions := inv.flags.Bool("functions", false, "add edge functions in Go")
	force := inv.flags.Bool("force", false, "replace an existing config.toml")
	inv.ignore([]string{"i", "interactive", "with-vscode-settings", "with-intellij-settings"})
	inv.refuse("use-orioledb", "is not supported; the storage engine is Postgres' own")
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	dir := "."
	if inv.workdir != "" {
		dir = inv.workdir
	}
	if len(inv.args) == 1 {
		dir = inv.args[0]
	}
	written, err := project.Init(project.Options{Dir: dir, Force: *force, Functions: *functions, Source: inv.Source,
		Version: func(module string) string { return downloadable(module, inv.Version) }})
	vendored := 0
	for _, file := range written {
		if strings.HasPrefix(file, project.Vendored) {
			vendored++
			continue
		}
		fmt.Fprintln(inv.Stdout, "wrote", file)
	}
	if vendored > 0 {
		fmt.Fprintf(inv.Stdout, "wrote %d files of package edge and its server to %s\n", vendored, project.Vendored)
	}
	if err == nil && *functions && vendored == 0 {
		fmt.Fprintln(inv.Stdout,
			"run `go mod tidy` in the folder once: it downloads the packages that functions import")
	}
	if err == nil {
		fmt.Fprint(inv.Stdout, inv.named(nextSteps(dir, *functions)))
	}
	return err
}

// nextSteps returns what to do after init.
func nextSteps(dir string, functions bool) string {
	var out strings.Builder
	step := func(command, what string) {
		fmt.Fprintln(&out, strings.TrimRight(fmt.Sprintf("  %-38s %s", command, what), " "))
	}
	out.WriteString("\nNext:\n\n")
	if dir != "." {
		step("cd "+dir, "")
	}
	start := "serve the project; the first migration has a table"
	if functions {
		start = "build the functions and serve the project"
	}
	step("daawo start", start)
	step("daawo sql --tables", "list the tables, in a second terminal")
	step("daawo migration new add_prices", "write the next migration; `daawo migration up` applies it")
	step("daawo status -o env", "print the address and the keys for your application")
	return out.String()
}

// releases matches the versions of releases. The version of a build between two tags, such as
// v1.2.3-4-g0123abc, is none.
var releases = regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)[.\d]*)?$`)

// downloadable returns the version of the stack's module in this program, "" if Go cannot download
// it. version is that of the program, which is the module's unless the program requires the module.
func downloadable(module, version string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == module && dep.Replace == nil {
				return dep.Version
			}
			if dep.Path == module {
				return ""
			}
		}
	}
	if !releases.MatchString(version) {
		return ""
	}
	return version
}
