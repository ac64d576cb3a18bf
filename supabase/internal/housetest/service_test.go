package housetest

import (
	"regexp"
	"strings"
	"testing"
)

// TestServiceUnit compares the systemd unit with docs/deploy.md. The command that the guide creates
// for operators must have the settings of the unit and reach the sockets of the service.
func TestServiceUnit(t *testing.T) {
	unit, guide := read(t, "scripts/daawo.service"), read(t, "docs/deploy.md")
	value := func(name string) string {
		found := regexp.MustCompile("(?m)^" + name + "=(.*)$").FindStringSubmatch(unit)
		if found == nil {
			t.Fatalf("the unit has no %s", name)
		}
		return found[1]
	}
	if command := value("ExecStart"); command != "/usr/local/bin/daawo start" {
		t.Errorf("other commands do not get the flags of %s", command)
	}
	if run := "/run/" + value("RuntimeDirectory"); !strings.Contains(value("Environment"), "XDG_RUNTIME_DIR="+run+" ") {
		t.Errorf("the sockets are not below %s, and /tmp is private", run)
	}
	for setting := range strings.FieldsSeq(value("Environment")) {
		name, _, _ := strings.Cut(setting, "=")
		quoted := regexp.MustCompile(`(?m)(^|&& )` + regexp.QuoteMeta(setting) + `($| )`)
		if strings.HasPrefix(name, "DAAWO_") && !quoted.MatchString(guide) {
			t.Errorf("the command daawo-as-service in docs/deploy.md lacks %s", setting)
		}
	}
}
