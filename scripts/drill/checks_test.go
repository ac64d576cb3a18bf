package main

import (
	"strings"
	"testing"
)

// A drill made of tests fails if a test fails, or if a package or a part of the pattern matches no test.
func TestCounted(t *testing.T) {
	event := func(action, in, test string) string {
		return `{"Action":"` + action + `","Package":"daawo/supabase/internal/` + in + `","Test":"` + test + `"}` + "\n"
	}
	good := event("pass", "app", "TestAttacks/a name") + event("pass", "app", "TestAttacks") + event("pass", "auth/redirect", "TestAllows") + event("pass", "app", "")
	for _, c := range []struct{ out, figures, broken string }{
		{good, "3 tests passed (app 2, auth/redirect 1), 0 failed", ""},
		{good + event("fail", "app", "TestAttacks/b"), "3 tests passed (app 2, auth/redirect 1), 1 failed", "app TestAttacks/b"},
		{event("pass", "app", "TestAttacks") + event("skip", "auth/redirect", "TestAllows"), "1 tests passed (app 1, auth/redirect 0), 0 failed", "package auth/redirect, ^TestAllows$"},
		{event("pass", "app", "TestAttacks") + event("pass", "auth/redirect", "TestAttacks"), "2 tests passed (app 1, auth/redirect 1), 0 failed", "for ^TestAllows$"},
		{good + event("fail", "app", ""), "3 tests passed (app 2, auth/redirect 1), 1 failed", "failed: app"},
	} {
		figures, err := counted([]byte(c.out), "Attacks$|^TestAllows$", "app", "auth/redirect")
		if figures != c.figures || (err == nil) != (c.broken == "") || err != nil && !strings.Contains(err.Error(), c.broken) {
			t.Errorf("%q, %v; want %q, %q", figures, err, c.figures, c.broken)
		}
	}
}
