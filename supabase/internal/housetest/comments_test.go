package housetest

import "testing"

// TestPackageComments checks that each package has a comment of some length.
func TestPackageComments(t *testing.T) {
	for path, p := range listPackages(t) {
		if within(path, "daawo/supabase", "daawo/functions", "daawo/web") && len(p.Doc) < 40 {
			t.Errorf("%s has no package comment that says what it is", path)
		}
	}
}
