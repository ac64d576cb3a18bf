// Package grammar parses the REST dialect into values of package ast: the query string of a URL and
// the headers Prefer, Accept, Content-Type and Range. It does not know the schema.
//
// Its error messages must be the same as upstream's, which uses the parser library Parsec. So the
// scanner keeps failures as Parsec does: a failure has a position and messages; an alternative that
// consumes input drops the failures of earlier alternatives; failures at one position are merged; a
// label replaces what was expected at the label's start.
//
// The scanner reads tokens, the parser above it the rules of the grammar.
package grammar

// Error reports a query string that cannot be parsed. Message says where, Details what was found
// and expected there.
type Error struct{ Message, Details string }

func (e *Error) Error() string { return e.Message + ": " + e.Details }

// parser parses the rules of the grammar. Each rule is a method that reports whether it succeeded.
// After a failure pos tells whether the rule consumed input.
type parser struct{ scanner }

// parse runs a rule over in. Most input is valid, so the first run keeps no failures; only invalid
// input is parsed a second time. what and shown name the input in an error.
func parse(what, shown, in string, rule func(*parser) bool) *Error {
	p := parser{scanner{in: in, quiet: true}}
	if rule(&p) {
		return nil
	}
	p = parser{scanner{in: in}}
	if rule(&p) {
		return nil
	}
	return p.error("failed to parse " + what + " (" + shown + ")")
}
