package rest_test

import (
	"flag"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares the statements of requests with testdata/golden.txt. An entry is a line
// "METHOD URL [Prefer]", the body on the next line for requests that write, and the statement. The
// file also documents the SQL.
func TestGolden(t *testing.T) {
	b := open(t, nil)
	text, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(string(text), "### "), "\n### ") {
		head, _, _ := strings.Cut(part, "\n\n")
		request, body, _ := strings.Cut(head, "\n")
		fields := strings.SplitN(strings.TrimSpace(request), " ", 3)
		r := httptest.NewRequest(fields[0], fields[1], strings.NewReader(strings.TrimSpace(body)))
		if len(fields) > 2 {
			r.Header.Set("Prefer", fields[2])
		}
		printed, err := b.engine.Explain(r)
		if err != nil {
			t.Errorf("%s: %v", request, err)
		}
		out.WriteString("### " + strings.TrimSpace(head) + "\n\n" + printed + "\n")
	}
	if *update {
		if err := os.WriteFile("testdata/golden.txt", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(text), out.String()); d != "" {
		t.Errorf("(-want +got), run with -update to accept:\n%s", d)
	}
}
