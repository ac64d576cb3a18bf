package photo

import (
	"os"
	"regexp"
	"testing"
)

// TestServiceAllowsHEIC: libheif is compiled to machine code while the program runs, which this directive of the shipped unit
// would forbid; then no photo of an iPhone became a JPEG, and nothing would say so.
func TestServiceAllowsHEIC(t *testing.T) {
	unit, err := os.ReadFile("../../../scripts/daawo.service")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?mi)^MemoryDenyWriteExecute=(yes|true|on|1)`).Match(unit) {
		t.Error("scripts/daawo.service forbids what the decoder of HEIC needs")
	}
}
