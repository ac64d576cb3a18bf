package schema

import (
	"slices"
	"testing"
)

func TestHints(t *testing.T) {
	set := newFuzzySet([]string{"films", "actors", "directors", "Roles"})
	for text, want := range map[string]string{"film": "films", "roles": "Roles", "directrs": "directors", "zzz": ""} {
		if got, _ := set.best(text, loose); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := combinations([][]string{{"a", "b"}, {"c"}}); !slices.Equal(got[1], []string{"b", "c"}) || len(got) != 2 {
		t.Error(got)
	}
}
