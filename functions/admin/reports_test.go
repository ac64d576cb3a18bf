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

func TestSpreadsheetText(t *testing.T) {
	for _, cell := range []string{"=1", "+1", "-1", "@a", "\t=1", "＝1+1", "＋1", "－1", "＠a", "﹦1", " =1", "\u200b=1",
		"0012", "1234567890123456", "12E5", "1.50", "3-12", "12/26", "5 %", "1:30", "MAR26", "3 Sept"} {
		if got := spreadsheetText(cell); got != "'"+cell {
			t.Errorf("%q stays %q", cell, got)
		}
	}
	for _, cell := range []string{"", "Cream", "1=2", "٢", " ", "0", "12", "123456789012345",
		"LOT12", "B-12", "2026-03-12", "2026-03", "March", "2026-03-12T09:30:00Z"} {
		if got := spreadsheetText(cell); got != cell {
			t.Errorf("%q became %q", cell, got)
		}
	}
}
