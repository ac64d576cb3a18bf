package changes

import (
	"slices"
	"sync/atomic"
	"time"
)

// membership is a subquery of a policy that looks for a row of another table which belongs to the
// user, such as the user's membership of the row's team. Further conditions only restrict it.
type membership struct {
	relation    namedRelation
	inner       []string // columns of the other table that equal columns of the row
	outer       []string // those columns of the row
	user        string   // the column of the other table that equals the claim
	claim       *policyExpr
	asList      bool         // IN, which can be null
	uselessTill atomic.Int64 // unix nanoseconds
}

// uselessFor is how long a subquery is not asked for all users at once after it held for most, or
// failed.
const uselessFor = 10 * time.Second

// namedRelation is a relation that a policy reads in a subquery.
type namedRelation struct {
	Schema string            `json:"schema"`
	Table  string            `json:"table"`
	Types  map[string]uint32 `json:"types"` // of a table's columns whose equal values have equal texts
}

// membership parses a parenthesis with EXISTS (SELECT …) or column IN (SELECT …). It returns nil if
// it is none that is understood.
func (p *policyParser) membership(from, end int) *policyExpr {
	m := &membership{}
	column := ""
	p.at = from + 1
	if !p.take("EXISTS") {
		e := p.operand()
		if e == nil || e.op != opColumn || !p.take("IN") {
			return nil
		}
		m.asList, column = true, e.column
	}
	if !p.is("(") || p.tokens[p.at].match != end-1 || p.foreign["="] || !p.subquery(m, column, end-1) {
		return nil
	}
	p.at = end + 1
	return &policyExpr{text: p.sql(from), reads: readsOther, member: m}
}

// subquery parses (SELECT … FROM table alias WHERE …), which ends at end. column is what it is
// compared with, or "".
func (p *policyParser) subquery(m *membership, column string, end int) bool {
	p.at++
	if !p.take("SELECT") {
		return false
	}
	var prefix, name string
	if column != "" {
		if prefix, name = p.qualified(); name == "" {
			return false
		}
	} else if p.at < end && p.tokens[p.at].kind == tokenNumber {
		p.at++
	}
	if !p.take("FROM") || !p.relation(m) {
		return false
	}
	alias := m.relation.Table
	if p.at < end && !p.is("WHERE") {
		alias = p.tokens[p.at].text
		if !p.name() {
			return false
		}
	}
	if column != "" && !m.pair(name, column, prefix == alias) || alias == p.table || !p.take("WHERE") {
		return false
	}
	return p.conjuncts(m, alias, end) && m.user != "" && len(m.inner) > 0
}

// pair adds two columns that are equal.
func (m *membership) pair(inner, outer string, ok bool) bool {
	m.inner, m.outer = append(m.inner, inner), append(m.outer, outer)
	return ok && m.relation.Types[inner] != 0
}

// relation skips a table and finds it among those that the policies read.
func (p *policyParser) relation(m *membership) bool {
	schema, name := p.qualified()
	if name == "" {
		return false
	}
	found := 0
	for _, r := range p.relations {
		if r.Table == name && (schema == "" || r.Schema == schema) {
			m.relation = r
			found++
		}
	}
	return found == 1
}

// qualified skips a name with or without a prefix. name is "" if there is none.
func (p *policyParser) qualified() (prefix, name string) {
	if p.at >= len(p.tokens) {
		return "", ""
	}
	name = p.tokens[p.at].text
	if !p.name() {
		return "", ""
	}
	if p.take(".") {
		prefix, name = name, p.tokens[p.at].text
		if !p.name() {
			return "", ""
		}
	}
	return prefix, name
}

// conjuncts parses the condition up to end: one comparison, or several with AND between them.
func (p *policyParser) conjuncts(m *membership, alias string, end int) bool {
	if !p.is("(") || p.tokens[p.at].match != end-1 {
		return false
	}
	if next := p.tokens[p.at+1]; next.kind != tokenMark || next.text != "(" { // one comparison
		return p.equality(m, alias, end-1)
	}
	p.at++
	for {
		if !p.is("(") || !p.equality(m, alias, p.tokens[p.at].match) {
			return false
		}
		if p.at == end-1 {
			return true
		}
		if !p.take("AND") {
			return false
		}
	}
}

// equality parses a comparison in parentheses. One that is not understood is skipped.
func (p *policyParser) equality(m *membership, alias string, end int) bool {
	from := p.at + 1
	for _, flipped := range []bool{false, true} {
		p.at = from
		if flipped {
			for p.at < end && p.tokens[p.at].text != "=" {
				p.at = max(p.at, p.tokens[p.at].match) + 1 // what is between parentheses, too
			}
			p.at++
		}
		prefix, inner := p.qualified()
		if prefix != alias || inner == "" || m.relation.Types[inner] == 0 {
			continue
		}
		other, last := from, p.at-4 // the other side
		if !flipped {
			if !p.take("=") {
				continue
			}
			other, last = p.at, end
		} else if p.at != end {
			continue
		}
		if p.side(m, inner, other, last, end) {
			p.at = end + 1
			return true
		}
	}
	p.at = end + 1
	return true
}

// side parses what a column of the other table is compared with: a column of the row or a claim.
func (p *policyParser) side(m *membership, inner string, from, last, end int) bool {
	p.at = from
	if prefix, outer := p.qualified(); prefix == p.table && p.at == last && slices.Contains(p.columns, outer) {
		m.pair(inner, outer, true)
		return true
	}
	p.at = from
	if e := p.operand(); e != nil && p.at == last && e.reads == readsClaims && m.user == "" {
		m.user, m.claim = inner, e
		return true
	}
	return false
}
