package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestUnit: what the service is told, its operator's commands are told, too, and they reach its sockets. Both are in
// docs/deploy.md: the file of settings, and the script that runs a command with them.
func TestUnit(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	unit, guide := read("scripts/daawo.service"), read("docs/deploy.md")
	one := func(pattern string) string {
		found := regexp.MustCompile("(?m)^" + pattern + "$").FindStringSubmatch(unit)
		if found == nil {
			t.Fatalf("the unit has no %s", pattern)
		}
		return found[1]
	}
	if command := one("ExecStart=(.*)"); command != "/usr/local/bin/daawo start" {
		t.Errorf("no other command knows the flags of %s", command)
	}
	if run := "/run/" + one("RuntimeDirectory=(.*)"); !strings.Contains(one("Environment=(.*)"), "XDG_RUNTIME_DIR="+run+" ") {
		t.Errorf("the sockets are not below %s, and /tmp is private", run)
	}
	for setting := range strings.FieldsSeq(one("Environment=(.*)")) {
		name, _, _ := strings.Cut(setting, "=")
		if ours := strings.HasPrefix(name, "DAAWO_"); ours && !regexp.MustCompile(`(?m)(^|&& )`+regexp.QuoteMeta(setting)+`($| )`).MatchString(guide) {
			t.Errorf("daawo-as-service does not have %s", setting)
		}
	}
}
