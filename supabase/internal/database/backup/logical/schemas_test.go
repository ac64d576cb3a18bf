package logical

import (
	"errors"
	"strings"
	"testing"
)

// TestSameSchemas checks that the order of migrations, which depends on a database's collation,
// makes no difference, and that the error names the migrations that do.
func TestSameSchemas(t *testing.T) {
	export := map[string][]string{"site": {"1", "2"}, "auth": {"a"}, "storage": {"add-b", "add_a", "Add"}}
	for _, tt := range []struct {
		what string
		here map[string][]string
		says []string // nil for equal schemas
	}{
		{"another collation", map[string][]string{"site": {"2", "1"}, "auth": {"a"},
			"storage": {"Add", "add_a", "add-b"}}, nil},
		{"a migration less", map[string][]string{"site": {"1"}, "auth": {"a"}, "storage": {"Add", "add_a", "add-b"}},
			[]string{"site", "only in the export: 2;", "only here: none"}},
		{"a gap in the middle", map[string][]string{"site": {"2"}, "auth": {"a"}, "storage": {"Add", "add_a", "add-b"}},
			[]string{"only in the export: 1;"}},
		{"others", map[string][]string{"site": {"1", "2"}, "auth": {"a"},
			"storage": {"Add", "add_a", "x", "y", "z", "zz", "zzz"}},
			[]string{"storage", "only in the export: add-b;", "only here: x, y, z, 2 more:"}},
		{"no schema", map[string][]string{"site": {"1", "2"}, "storage": {"Add", "add_a", "add-b"}},
			[]string{"has no auth schema", "daawo migrate"}},
	} {
		err := sameSchemas(export, tt.here)
		if (err != nil) != (tt.says != nil) || err != nil && !errors.Is(err, ErrOtherSchema) {
			t.Errorf("%s: %v", tt.what, err)
		}
		for _, want := range tt.says {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", tt.what, err, want)
			}
		}
	}
}
