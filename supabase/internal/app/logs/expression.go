package logs

import (
	"errors"
	"slices"
	"strconv"
)

// expression reads an expression: OR has the lowest precedence.
func (p *parser) expression() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errors.New("the statement has too many parentheses in parentheses")
	}
	defer func() { p.depth-- }()
	return p.binary([]string{"or"}, func() (*node, error) { return p.binary([]string{"and"}, p.negation) })
}

// binary reads operands with operators of one precedence between them.
func (p *parser) binary(operators []string, operand func() (*node, error)) (*node, error) {
	left, err := operand()
	if err != nil {
		return nil, err
	}
	for {
		t := p.peek()
		if t.kind != wordToken && t.kind != operatorToken || !slices.Contains(operators, t.text) {
			return left, nil
		}
		p.i++
		right, err := operand()
		if err != nil {
			return nil, err
		}
		left = &node{op: t.text, args: []*node{left, right}}
	}
}

func (p *parser) negation() (*node, error) {
	if p.word("not") {
		n, err := p.negation()
		return not(n), err
	}
	return p.comparison()
}

func not(n *node) *node { return &node{op: "not", args: []*node{n}} }

func (p *parser) comparison() (*node, error) {
	n, err := p.binary([]string{"=", "!=", "<>", "<", "<=", ">", ">="}, p.sum)
	if err != nil {
		return nil, err
	}
	for {
		negated := false
		if p.word("is") {
			negated = p.word("not")
			switch {
			case p.word("null"):
				n = &node{op: "is null", args: []*node{n}}
			case p.word("true"):
				n = &node{op: "=", args: []*node{n, {op: "value", value: true}}}
			default:
				return nil, p.unexpected()
			}
		} else {
			at := p.i
			negated = p.word("not")
			switch {
			case p.word("like", "ilike"):
				pattern, err := p.sum()
				if err != nil {
					return nil, err
				}
				n = &node{op: "like", args: []*node{n, pattern}}
			case p.word("in"):
				if n, err = p.in(n); err != nil {
					return nil, err
				}
			case p.word("between"):
				if n, err = p.between(n); err != nil {
					return nil, err
				}
			default:
				p.i = at
				return n, nil
			}
		}
		if negated {
			n = not(n)
		}
	}
}

func (p *parser) in(n *node) (*node, error) {
	if err := p.must("("); err != nil {
		return nil, err
	}
	list, err := p.list()
	if err != nil {
		return nil, err
	}
	return &node{op: "in", args: append([]*node{n}, list...)}, p.must(")")
}

func (p *parser) between(n *node) (*node, error) {
	low, err := p.sum()
	if err != nil {
		return nil, err
	}
	if err := p.must("and"); err != nil {
		return nil, err
	}
	high, err := p.sum()
	return &node{op: "between", args: []*node{n, low, high}}, err
}

func (p *parser) sum() (*node, error) {
	return p.binary([]string{"+", "-", "||"}, func() (*node, error) { return p.binary([]string{"*", "/"}, p.unary) })
}

func (p *parser) unary() (*node, error) {
	if p.operator("-") {
		n, err := p.unary()
		return &node{op: "-", args: []*node{{op: "value", value: 0.0}, n}}, err
	}
	n, err := p.primary()
	for err == nil {
		switch {
		case p.operator("::"):
			kind, ok := p.name()
			if !ok {
				return nil, p.unexpected()
			}
			n = &node{op: "cast", text: kind, args: []*node{n}}
		case p.operator("["):
			at, err := p.expression()
			if err != nil {
				return nil, err
			}
			if err := p.must("]"); err != nil {
				return nil, err
			}
			n = &node{op: "index", args: []*node{n, at}}
		default:
			return n, nil
		}
	}
	return n, err
}

func (p *parser) primary() (*node, error) {
	t := p.peek()
	switch {
	case t.kind == stringToken:
		p.i++
		return &node{op: "value", value: t.text}, nil
	case t.kind == numberToken:
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return nil, p.unexpected()
		}
		p.i++
		return &node{op: "value", value: f}, nil
	case p.operator("("):
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		return n, p.must(")")
	case p.word("case"):
		return p.cases()
	case p.word("true", "false"):
		return &node{op: "value", value: t.text == "true"}, nil
	case p.word("null"):
		return &node{op: "value"}, nil
	case p.word("cast", "safe_cast"):
		return p.cast()
	}
	name, ok := p.name()
	if !ok {
		return nil, p.unexpected()
	}
	if p.operator("(") {
		return p.call(name)
	}
	n := &node{op: "name", path: []string{name}}
	for p.operator(".") {
		t := p.peek()
		if t.kind != wordToken {
			return nil, p.unexpected()
		}
		p.i++
		n.path = append(n.path, t.text)
	}
	return n, nil
}

// cases reads CASE WHEN … THEN … ELSE … END. Its arguments are pairs, and perhaps one more.
func (p *parser) cases() (*node, error) {
	n := &node{op: "case"}
	for p.word("when") {
		for _, end := range []string{"then", ""} {
			part, err := p.expression()
			if err != nil {
				return nil, err
			}
			n.args = append(n.args, part)
			if end != "" {
				if err := p.must(end); err != nil {
					return nil, err
				}
			}
		}
	}
	if p.word("else") {
		part, err := p.expression()
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, part)
	}
	return n, p.must("end")
}

func (p *parser) cast() (*node, error) {
	if err := p.must("("); err != nil {
		return nil, err
	}
	value, err := p.expression()
	if err != nil {
		return nil, err
	}
	if err := p.must("as"); err != nil {
		return nil, err
	}
	kind, ok := p.name()
	if !ok {
		return nil, p.unexpected()
	}
	return &node{op: "cast", text: kind, args: []*node{value}}, p.must(")")
}

// call reads the arguments of a function.
func (p *parser) call(name string) (n *node, err error) {
	n = &node{op: "call", text: name, distinct: p.word("distinct")}
	if p.operator("*") {
		n.star = true
	} else if p.peek().text != ")" || p.peek().kind != operatorToken {
		if n.args, err = p.list(); err != nil {
			return nil, err
		}
	}
	if err := p.must(")"); err != nil {
		return nil, err
	}
	if _, known := functions[name]; !known && !aggregates[name] {
		return nil, unknownFunction(name)
	}
	return n, nil
}
