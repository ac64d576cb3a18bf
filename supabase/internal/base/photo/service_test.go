package photo

import (
	"os"
	"regexp"
	"testing"
)

// TestServiceAllowsHEIC checks the shipped systemd unit. libheif is compiled to machine code at run
// time, which this directive would forbid. HEIC images would then silently not be converted.
func TestServiceAllowsHEIC(t *testing.T) {
	unit, err := os.ReadFile("../../../../scripts/daawo.service")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?mi)^MemoryDenyWriteExecute=(yes|true|on|1)`).Match(unit) {
		t.Error("scripts/daawo.service sets MemoryDenyWriteExecute, which the HEIC decoder cannot use: remove it")
	}
}
