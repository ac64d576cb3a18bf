package catalog

import (
	"strconv"
	"strings"
)

// Origin is the relation and the number of the column that a column of a view shows unchanged.
type Origin struct {
	Relation int64
	Column   int16
}

// Origins reads the stored query of a view (pg_rewrite.ev_action, a pg_node_tree). It returns
// the origin of each column of the view, by column number. Expressions have no origin.
//
// The text is a list of nodes:
//
//	({QUERY … :targetList ({TARGETENTRY … :resno 1 … :resorigtbl 16385 :resorigcol 1 …} …) …})
//
// Only the outermost target list counts, so the parser tracks the depth. A backslash quotes a
// character.
func Origins(tree string) map[int16]Origin {
	body, ok := field(tree, 2, ":targetList ") // depth 2: inside "({QUERY"
	if !ok || !strings.HasPrefix(body, "(") {
		return nil
	}
	targets := map[int16]Origin{}
	body = body[1:]
	for {
		body = strings.TrimLeft(body, " ")
		if !strings.HasPrefix(body, "{TARGETENTRY") {
			return targets
		}
		n := nodeLength(body)
		entry := body[:n]
		body = body[n:]
		number, okN := intField(entry, ":resno ")
		table, okT := intField(entry, ":resorigtbl ")
		column, okC := intField(entry, ":resorigcol ")
		if okN && okT && okC && table != 0 && column > 0 {
			targets[int16(number)] = Origin{table, int16(column)}
		}
	}
}

// field returns the text after name, at the given depth of braces and parentheses.
func field(tree string, depth int, name string) (string, bool) {
	d := 0
	for i := 0; i < len(tree); i++ {
		switch tree[i] {
		case '\\':
			i++
		case '(', '{':
			d++
		case ')', '}':
			d--
		case ':':
			if d == depth && strings.HasPrefix(tree[i:], name) {
				return tree[i+len(name):], true
			}
		}
	}
	return "", false
}

// intField returns the value of a numeric field of a node.
func intField(node, name string) (int64, bool) {
	rest, ok := field(node, 1, name)
	if !ok {
		return 0, false
	}
	end := strings.IndexAny(rest, " })")
	if end < 0 {
		end = len(rest)
	}
	n, err := strconv.ParseInt(rest[:end], 10, 64)
	return n, err == nil
}

// nodeLength returns the length of the node at the start of s.
func nodeLength(s string) int {
	d := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(', '{':
			d++
		case ')', '}':
			if d--; d == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
