package admin

import (
	"strings"
	"testing"
)

func TestNormalReference(t *testing.T) {
	for in, want := range map[string]string{
		"DW-7K3M-9QXA": "DW-7K3M-9QXA", "dw7k3m9qxa": "DW-7K3M-9QXA", "7k3m 9qxa": "DW-7K3M-9QXA",
		"DW-OIL0-0000": "DW-0110-0000", "DWDW-DWDW": "DW-DWDW-DWDW", "": "", "x": "X",
	} {
		if got := NormalReference(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestCSVHasNoFormula checks that a spreadsheet cannot take a cell for a formula.
func TestCSVHasNoFormula(t *testing.T) {
	var b strings.Builder
	phone := "+252612345678"
	if err := WriteCSV(&b, []Report{{Reference: "DW-0000-0001", ProductName: `=cmd|' /C calc'!A0`,
		IssueDescription: "two\nlines, \"quoted\"", Phone: &phone}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`,'=cmd|`, `"two` + "\n" + `lines, ""quoted"""`, `,'+252612345678,`,
		"reference,received_at"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
}

func TestFormulasAreEscaped(t *testing.T) {
	for _, cell := range []string{"=1", "+1", "-1", "@a", "\t=1", "＝1+1", "＋1", "－1", "＠a", "﹦1", " =1", "\u200b=1"} {
		if got := escapeFormula(cell); got != "'"+cell {
			t.Errorf("%q stays %q", cell, got)
		}
	}
	for _, cell := range []string{"", "Cream", "1=2", "٢", " "} {
		if got := escapeFormula(cell); got != cell {
			t.Errorf("%q became %q", cell, got)
		}
	}
}
