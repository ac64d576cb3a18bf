package cli

import (
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether an input or output is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// colours are the escape sequences of a terminal. All are "" if an output shows no colours.
type colours struct{ dim, red, yellow, green, bold, reset string }

// coloursOf returns the colours of an output: none if it is no terminal, if NO_COLOR is set
// (no-color.org) or if TERM is dumb.
func coloursOf(stream any, getenv func(string) (string, bool)) colours {
	no, _ := getenv("NO_COLOR")
	kind, _ := getenv("TERM")
	if !isTerminal(stream) || no != "" || kind == "dumb" {
		return colours{}
	}
	return ansi
}

// ansi are the colours of a terminal that has them.
var ansi = colours{
	dim: "\x1b[2m", red: "\x1b[31m", yellow: "\x1b[33m", green: "\x1b[32m", bold: "\x1b[1m", reset: "\x1b[0m",
}

// columnsOf returns the width of a terminal.
func columnsOf(stream any) int {
	const usual = 80
	f, ok := stream.(*os.File)
	if !ok {
		return usual
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return usual
}
