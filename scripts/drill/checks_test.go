package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A drill made of tests fails if a test fails, or if a package or a part of the pattern matches no
// test.
func TestCounted(t *testing.T) {
	event := func(action, in, test string) string {
		return `{"Action":"` + action + `","Package":"daawo/supabase/internal/` + in + `","Test":"` + test + `"}` + "\n"
	}
	good := event("pass", "app", "TestAttacks/a name") + event("pass", "app", "TestAttacks") + event("pass",
		"auth/redirect", "TestAllows") + event("pass", "app", "")
	for _, c := range []struct{ out, figures, broken string }{
		{good, "3 tests passed (internal/app 2, internal/auth/redirect 1), 0 failed", ""},
		{good + event("fail", "app", "TestAttacks/b"),
			"3 tests passed (internal/app 2, internal/auth/redirect 1), 1 failed", "internal/app TestAttacks/b"},
		{event("pass", "app", "TestAttacks") + event("skip", "auth/redirect", "TestAllows"),
			"1 tests passed (internal/app 1, internal/auth/redirect 0), 0 failed",
			"package internal/auth/redirect, ^TestAllows$"},
		{event("pass", "app", "TestAttacks") + event("pass", "auth/redirect", "TestAttacks"),
			"2 tests passed (internal/app 1, internal/auth/redirect 1), 0 failed", "for ^TestAllows$"},
		{good + event("fail", "app", ""), "3 tests passed (internal/app 2, internal/auth/redirect 1), 1 failed",
			"failed: internal/app"},
	} {
		figures, err := checks{"Attacks$|^TestAllows$",
			[]string{"internal/app", "internal/auth/redirect"}}.counted([]byte(c.out))
		if figures != c.figures || (err == nil) != (c.broken == "") || err != nil &&
			!strings.Contains(err.Error(), c.broken) {
			t.Errorf("%q, %v; want %q, %q", figures, err, c.figures, c.broken)
		}
	}
}

// TestChecksNameTests checks that each part of a drill's pattern, and each of its packages, has a
// test.
func TestChecksNameTests(t *testing.T) {
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, c := range []checks{accessChecks, attackChecks, clockChecks, migrationChecks} {
		var all []string
		for _, p := range c.packages {
			files, err := filepath.Glob(filepath.Join("../../supabase", p, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, name := range files {
				source, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range function.FindAllSubmatch(source, -1) {
					all = append(all, string(m[1]))
					found = found || regexp.MustCompile(c.pattern).Match(m[1])
				}
			}
			if !found {
				t.Errorf("%s has no test for %s", p, c.pattern)
			}
		}
		for one := range strings.SplitSeq(c.pattern, "|") {
			if !slices.ContainsFunc(all, regexp.MustCompile(one).MatchString) {
				t.Errorf("no test in %v for %s", c.packages, one)
			}
		}
	}
}

// TestCheckedPackagesExist checks that each package of a drill has tests.
func TestCheckedPackagesExist(t *testing.T) {
	for _, c := range []checks{accessChecks, attackChecks, clockChecks, migrationChecks} {
		for _, name := range c.packages {
			if found, err := filepath.Glob(filepath.Join("../../supabase", name, "*_test.go")); err != nil ||
				len(found) == 0 {
				t.Errorf("supabase/%s has no tests: %v", name, err)
			}
		}
	}
}
