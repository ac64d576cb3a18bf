package changes

import "slices"

// reads says what an expression of a policy depends on.
type reads uint8

const (
	readsRow reads = 1 << iota
	readsClaims
	readsTime
	readsOther // anything: the expression is not understood
)

// policyExpr is an expression of a policy.
type policyExpr struct {
	op     policyOp
	args   []*policyExpr
	text   string // SQL
	reads  reads
	column string // of opColumn
	claim  int    // index in policySet.claims, if it reads the claims alone
	member *membership
}

// policyOp is what is known about how an expression combines its arguments.
type policyOp int8

const (
	opOther policyOp = iota
	opAnd
	opOr
	opNot
	opEqual
	opColumn
	opSame // the value of its only argument
	opText // the value of its only argument as a text
)

// policyParser reads the text that pg_get_expr writes, in which each operation has parentheses. It
// understands what only combines columns, constants and claims; all else has readsOther.
type policyParser struct {
	text    string
	tokens  []policyToken
	at      int
	table   string
	columns []string        // of the table
	trusted map[string]bool // functions that read the claims alone, as schema.name
	foreign map[string]bool // operators and functions that Postgres does not bring
	calls   bool            // there are such functions, so a cast could call one

	relations []namedRelation // of subqueries
}

// parse returns the expression.
func (p *policyParser) parse() *policyExpr {
	tokens, ok := tokenize(p.text)
	if ok {
		p.tokens, p.at = tokens, 0
		if e := p.operand(); e != nil && p.at == len(p.tokens) {
			return e
		}
	}
	return &policyExpr{text: p.text, reads: readsOther}
}

// is reports whether the next token is a mark, an operator or a keyword.
func (p *policyParser) is(text string) bool {
	if p.at >= len(p.tokens) {
		return false
	}
	t := p.tokens[p.at]
	return t.text == text && t.kind != tokenQuoted && t.kind != tokenString
}

// take skips the next token if it is text.
func (p *policyParser) take(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

// sql returns the text of the tokens from one to the present one.
func (p *policyParser) sql(from int) string {
	return p.text[p.tokens[from].start:p.tokens[p.at-1].end]
}

// combine returns an expression that depends on what its arguments depend on.
func (p *policyParser) combine(op policyOp, from int, args ...*policyExpr) *policyExpr {
	e := &policyExpr{op: op, args: args, text: p.sql(from)}
	for _, a := range args {
		e.reads |= a.reads
	}
	return e
}

// operand parses an expression without an operator at its top, and its casts. It returns nil if the
// expression around it is not understood.
func (p *policyParser) operand() *policyExpr {
	from := p.at
	e := p.atom()
	for e != nil && p.take("::") {
		literal := p.at == from+2 && p.tokens[from].kind != tokenName
		op := p.castType(literal)
		if op < 0 {
			return nil
		}
		e = p.combine(op, from, e)
	}
	if p.is("[") {
		return nil
	}
	return e
}

// castTypes are the types that casts may have. The input of others can depend on settings.
var castTypes = []string{"text", "uuid", "integer", "bigint", "smallint", "boolean", "jsonb", "json", "numeric"}

// castType skips the type of a cast. A literal may have any type, because Postgres has stored its
// value. It returns -1 for a cast that is not understood.
func (p *policyParser) castType(literal bool) policyOp {
	from := p.at
	if !p.name() {
		return -1
	}
	for p.take(".") {
		if !p.name() {
			return -1
		}
	}
	name := p.sql(from)
	if name == "character" && p.take("varying") {
		return opText
	}
	switch {
	case literal && slices.Contains([]string{"double", "timestamp", "time", "bit", "character"}, name):
		return -1 // types with more words
	case literal && p.is("[") && p.at+1 < len(p.tokens) && p.tokens[p.at].match == p.at+1:
		p.at += 2
		return opOther
	case name == "text" && (literal || !p.calls):
		return opText
	case literal || slices.Contains(castTypes, name) && !p.calls:
		return opOther
	}
	return -1
}

func (p *policyParser) name() bool {
	if p.at < len(p.tokens) && (p.tokens[p.at].kind == tokenName || p.tokens[p.at].kind == tokenQuoted) {
		p.at++
		return true
	}
	return false
}

// atom parses a parenthesis, a constant, a column or a call.
func (p *policyParser) atom() *policyExpr {
	if p.at >= len(p.tokens) {
		return nil
	}
	from := p.at
	switch t := p.tokens[p.at]; {
	case t.kind == tokenString || t.kind == tokenNumber || p.is("true") || p.is("false") || p.is("NULL"):
		p.at++
		return p.combine(opOther, from)
	case p.is("("):
		return p.parenthesis()
	case p.is("ARRAY"):
		p.at++
		if !p.is("[") {
			return nil
		}
		return p.list(from)
	case t.kind == tokenName || t.kind == tokenQuoted:
		return p.named()
	}
	return nil
}

// parenthesis parses an expression in parentheses. One that it does not understand counts as
// opaque, which does not spoil the expression around it.
func (p *policyParser) parenthesis() *policyExpr {
	from, end := p.at, p.tokens[p.at].match
	if e := p.membership(from, end); e != nil {
		return e
	}
	p.at = from + 1
	op, args, ok := p.inner(end)
	if !ok || p.at != end {
		p.at = end + 1
		return &policyExpr{text: p.sql(from), reads: readsOther}
	}
	p.at++
	return p.combine(op, from, args...)
}

// inner parses what is between parentheses.
func (p *policyParser) inner(end int) (op policyOp, args []*policyExpr, ok bool) {
	switch {
	case p.take("SELECT"): // the subquery that keeps a value for all rows
		e := p.operand()
		if e == nil || p.take("AS") && !p.name() {
			return 0, nil, false
		}
		return opSame, []*policyExpr{e}, true
	case p.take("NOT"):
		e := p.operand()
		return opNot, []*policyExpr{e}, e != nil
	}
	left := p.operand()
	if left == nil {
		return 0, nil, false
	}
	args = []*policyExpr{left}
	switch {
	case p.at == end:
		return opSame, args, true
	case p.is("AND"), p.is("OR"):
		return p.chain(args)
	case p.take("IS"):
		return p.test(args)
	case p.tokens[p.at].kind == tokenOperator:
		return p.operator(args)
	}
	return 0, nil, false
}

// chain parses the rest of a conjunction or disjunction.
func (p *policyParser) chain(args []*policyExpr) (policyOp, []*policyExpr, bool) {
	op, word := opAnd, "AND"
	if p.is("OR") {
		op, word = opOr, "OR"
	}
	for p.take(word) {
		e := p.operand()
		if e == nil {
			return 0, nil, false
		}
		args = append(args, e)
	}
	return op, args, true
}

// test parses the rest of IS NULL and the like.
func (p *policyParser) test(args []*policyExpr) (policyOp, []*policyExpr, bool) {
	p.take("NOT")
	if p.take("DISTINCT") {
		if !p.take("FROM") {
			return 0, nil, false
		}
		e := p.operand()
		return opOther, append(args, e), e != nil
	}
	return opOther, args, p.take("NULL") || p.take("TRUE") || p.take("FALSE") || p.take("UNKNOWN")
}

// operator parses the rest of an operation with two operands.
func (p *policyParser) operator(args []*policyExpr) (policyOp, []*policyExpr, bool) {
	name := p.tokens[p.at].text
	if p.foreign[name] {
		return 0, nil, false
	}
	p.at++
	if p.take("ANY") || p.take("ALL") {
		if !p.is("(") {
			return 0, nil, false
		}
		e := p.parenthesis()
		return opOther, append(args, e), e.reads&readsOther == 0
	}
	e := p.operand()
	if e == nil {
		return 0, nil, false
	}
	if name == "=" {
		return opEqual, append(args, e), true
	}
	return opOther, append(args, e), true
}

// builtins are functions of Postgres whose results depend on their arguments alone.
var builtins = []string{"COALESCE", "NULLIF", "lower", "upper", "btrim", "length"}

// named parses a column or a call.
func (p *policyParser) named() *policyExpr {
	from := p.at
	name := p.tokens[p.at].text
	quoted := p.tokens[p.at].kind == tokenQuoted
	p.at++
	for p.take(".") {
		if p.at >= len(p.tokens) {
			return nil
		}
		name += "." + p.tokens[p.at].text
		if !p.name() {
			return nil
		}
	}
	if !p.is("(") {
		if !slices.Contains(p.columns, name) || p.at != from+1 {
			return nil
		}
		e := p.combine(opColumn, from)
		e.reads, e.column = readsRow, name
		return e
	}
	end := p.tokens[p.at].match
	empty := end == p.at+1
	switch {
	case p.trusted[name] && empty:
		p.at = end + 1
		e := p.combine(opOther, from)
		e.reads = readsClaims
		return e
	case name == "now" && empty && !p.foreign[name]:
		p.at = end + 1
		e := p.combine(opOther, from)
		e.reads = readsTime
		return e
	case !quoted && slices.Contains(builtins, name) && !p.foreign[name]:
		return p.list(from)
	}
	p.at = end + 1
	return &policyExpr{text: p.sql(from), reads: readsOther}
}

// list parses arguments between parentheses or brackets, of which the first is the next token.
func (p *policyParser) list(from int) *policyExpr {
	end := p.tokens[p.at].match
	p.at++
	var args []*policyExpr
	for p.at < end {
		e := p.operand()
		if e == nil || p.at < end && !p.take(",") {
			p.at = end + 1
			return &policyExpr{text: p.sql(from), reads: readsOther}
		}
		args = append(args, e)
	}
	p.at = end + 1
	return p.combine(opOther, from, args...)
}
