package grammar

import (
	"strconv"
	"strings"
)

// quoteString quotes text as Haskell's show does, which Parsec uses in its messages: non-ASCII
// characters become decimal escapes.
func quoteString(s string) string { return `"` + escape(s, '"') + `"` }

func quoteRune(r rune) string { return "'" + escape(string(r), '\'') + "'" }

// escape returns the text that Haskell's show puts between the quotes.
func escape(s string, quote rune) string {
	var b strings.Builder
	afterNumber := false
	for _, r := range s {
		if afterNumber && r >= '0' && r <= '9' {
			b.WriteString(`\&`)
		}
		afterNumber = false
		switch {
		case r == quote || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r < 0x7f:
			b.WriteRune(r)
		case r == 0x7f:
			b.WriteString(`\DEL`)
		case r < ' ':
			b.WriteString(`\` + controlNames[r])
		default:
			b.WriteString(`\` + strconv.Itoa(int(r)))
			afterNumber = true
		}
	}
	return b.String()
}

var controlNames = [...]string{"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "a", "b", "t", "n", "v", "f", "r", "SO",
	"SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US"}
