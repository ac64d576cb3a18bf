package child

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestEachLine checks that a line of any length hides no later line.
func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", 50_000)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"a\n\nb\r\nc", []string{"a", "", "b", "c"}},
		{"first\n" + long + "\nlast\n", []string{"first", long[:20_000], "last"}},
		{long + strings.Repeat("y", 1<<21) + "\nlast", []string{long[:20_000], "last"}},
	} {
		var got []string
		EachLine(strings.NewReader(c.text), 20_000, func(line []byte) { got = append(got, string(line)) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%.10q: %s", c.text, fmt.Sprintf("%.20q", got))
		}
	}
}
