package typegen

import "strings"

// doc is text whose line breaks are decided by its width, after P. Wadler, "A prettier printer".
type doc struct {
	kind  docKind
	text  string // of a text; of a choice in a group on one line
	else_ string // of a choice in a broken group
	parts []doc
	wide  bool // a group that is always broken
}

type docKind uint8

const (
	textDoc   docKind = iota
	concatDoc         // parts one after the other
	groupDoc          // on one line if it fits
	indentDoc         // parts two columns further right
	lineDoc           // a line break in a broken group, text otherwise
	choiceDoc         // text or else_
)

func text(s string) doc              { return doc{kind: textDoc, text: s} }
func concat(parts ...doc) doc        { return doc{kind: concatDoc, parts: parts, wide: anyWide(parts)} }
func group(parts ...doc) doc         { return doc{kind: groupDoc, parts: parts, wide: anyWide(parts)} }
func indent(parts ...doc) doc        { return doc{kind: indentDoc, parts: parts, wide: anyWide(parts)} }
func choice(flat, broken string) doc { return doc{kind: choiceDoc, text: flat, else_: broken} }

// line is a space on one line, softLine nothing.
var (
	line     = doc{kind: lineDoc, text: " "}
	softLine = doc{kind: lineDoc}
)

// broken returns a group that does not go on one line.
func broken(parts ...doc) doc {
	g := group(parts...)
	g.wide = true
	return g
}

func anyWide(parts []doc) bool {
	for _, p := range parts {
		if p.wide {
			return true
		}
	}
	return false
}

// join puts separators between docs.
func join(separator doc, docs []doc) doc {
	var parts []doc
	for i, d := range docs {
		if i > 0 {
			parts = append(parts, separator)
		}
		parts = append(parts, d)
	}
	return concat(parts...)
}

// lineWidth is the longest line that a group is put on, in columns.
const lineWidth = 80

// item is a doc to print, with its indentation and whether its group is on one line.
type item struct {
	doc    doc
	indent int
	flat   bool
}

// layout returns the text of a doc.
func layout(d doc) string {
	var out strings.Builder
	column := 0
	stack := []item{{doc: d}}
	push := func(parts []doc, indent int, flat bool) {
		for i := len(parts) - 1; i >= 0; i-- {
			stack = append(stack, item{parts[i], indent, flat})
		}
	}
	write := func(s string) {
		out.WriteString(s)
		column += len([]rune(s))
	}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch d := at.doc; d.kind {
		case textDoc:
			write(d.text)
		case concatDoc:
			push(d.parts, at.indent, at.flat)
		case indentDoc:
			push(d.parts, at.indent+2, at.flat)
		case groupDoc:
			flat := !d.wide && fits(lineWidth-column, item{d, at.indent, true}, stack)
			push(d.parts, at.indent, flat)
		case choiceDoc:
			if at.flat {
				write(d.text)
			} else {
				write(d.else_)
			}
		case lineDoc:
			if at.flat {
				write(d.text)
				continue
			}
			out.WriteString("\n" + strings.Repeat(" ", at.indent))
			column = at.indent
		}
	}
	return out.String()
}

// fits reports whether an item, and what follows it up to the next line break, fits into a width.
func fits(width int, first item, rest []item) bool {
	stack := []item{first}
	for width >= 0 {
		if len(stack) == 0 {
			if len(rest) == 0 {
				return true
			}
			stack = append(stack, rest[len(rest)-1])
			rest = rest[:len(rest)-1]
		}
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch d := at.doc; d.kind {
		case textDoc:
			width -= len([]rune(d.text))
		case choiceDoc:
			if at.flat {
				width -= len(d.text)
			} else {
				width -= len(d.else_)
			}
		case lineDoc:
			if !at.flat {
				return true
			}
			width -= len(d.text)
		default:
			flat := at.flat && !(d.kind == groupDoc && d.wide)
			for i := len(d.parts) - 1; i >= 0; i-- {
				stack = append(stack, item{d.parts[i], at.indent, flat})
			}
		}
	}
	return false
}
