package docker_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ledgers maps the pinned images that keep a ledger of migrations to what they record in a new
// database, and to our file with the same rows. docs/evidence/docker.md says where the rows are
// from. A new tag needs a new look at the image's migrations.
var ledgers = map[string]struct {
	file string
	rows int
	last int64
}{
	"supabase/gotrue:v2.196.0":     {"20_auth_ledger.sql", 77, 20260625000000},
	"supabase/storage-api:v1.74.0": {"30_storage_ledger.sql", 70, 69},
	"supabase/realtime:v2.134.10":  {"40_realtime_ledger.sql", 83, 20260827120000},
}

var (
	ledgerRow   = regexp.MustCompile(`(?m)^ +\('?(\d+)'?[,)]`)
	ledgerTitle = regexp.MustCompile(`v\d+\.\d+\.?\d*`)
)

// TestLedgersMatchPins checks that a database of ours has the migrations of the pinned image, which
// then finds nothing to do.
func TestLedgersMatchPins(t *testing.T) {
	services := load(t).Services
	var folder string
	for _, v := range services["roles"].Volumes {
		if v.Target == "/platform" {
			folder = v.Source
		}
	}
	for _, name := range []string{"auth", "storage", "realtime"} {
		image := services[name].Image
		want, ok := ledgers[image]
		if !ok {
			t.Errorf("no ledger is known for %s", image)
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, want.file))
		if err != nil {
			t.Fatal(err)
		}
		title := ledgerTitle.FindString(string(text))
		if _, tag, _ := strings.Cut(image, ":"); title == "" || !strings.HasPrefix(tag+".", title+".") {
			t.Errorf("%s is of %s, but %s runs %s", want.file, title, name, image)
		}
		var versions []int64
		for _, m := range ledgerRow.FindAllStringSubmatch(string(text), -1) {
			version, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			versions = append(versions, version)
		}
		slices.Sort(versions)
		if len(versions) != want.rows || versions[len(versions)-1] != want.last {
			t.Errorf("%s has %d rows, want %d up to %d", want.file, len(versions), want.rows, want.last)
		}
	}
}
