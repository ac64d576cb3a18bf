package logs

import (
	"fmt"
	"slices"
	"strconv"
)

// statement is a parsed SELECT.
type statement struct {
	items   []item
	table   string
	alias   string
	unnests []unnest
	where   *node // nil for none
	group   []*node
	order   []sortKey
	limit   int // -1 for none
}

// item is a result column.
type item struct {
	value *node // nil for *
	name  string
}

// unnest joins the rows of an array.
type unnest struct {
	array *node
	alias string
	left  bool // rows without elements stay
}

type sortKey struct {
	value      *node
	descending bool
}

// node is an expression.
type node struct {
	op       string   // value, name, call, case, cast, index, in, between, like, is null, and the operators
	path     []string // of a name
	text     string   // function, type
	value    any
	args     []*node
	distinct bool
	star     bool
}

// parser reads tokens.
type parser struct {
	all   []token
	i     int
	depth int // of expressions in expressions
}

// Limits of a statement.
const (
	maxStatement = 64 << 10 // bytes
	maxDepth     = 100
)

// parse reads the statement of a query.
func parse(sql string) (*statement, error) {
	if len(sql) > maxStatement {
		return nil, fmt.Errorf("the statement has more than %d bytes", maxStatement)
	}
	all, err := tokens(sql)
	if err != nil {
		return nil, err
	}
	p := &parser{all: all}
	s, err := p.statement()
	if err != nil {
		return nil, err
	}
	p.operator(";")
	if p.peek().kind != endToken {
		return nil, p.unexpected()
	}
	return s, nil
}

func (p *parser) peek() token { return p.all[p.i] }

// word accepts the next token if it is one of the words.
func (p *parser) word(words ...string) bool {
	if t := p.peek(); t.kind == wordToken && slices.Contains(words, t.text) {
		p.i++
		return true
	}
	return false
}

// operator accepts the next token if it is the operator.
func (p *parser) operator(text string) bool {
	if t := p.peek(); t.kind == operatorToken && t.text == text {
		p.i++
		return true
	}
	return false
}

func (p *parser) unexpected() error {
	t := p.peek()
	if t.kind == endToken {
		return fmt.Errorf("the statement ends too early")
	}
	return fmt.Errorf("%q at character %d is not supported by this server's logs", t.text, t.at+1)
}

// must returns an error unless the next token is the word or the operator.
func (p *parser) must(text string) error {
	if p.word(text) || p.operator(text) {
		return nil
	}
	return p.unexpected()
}

// keywords end an expression or an alias.
var keywords = []string{"from", "where", "group", "order", "limit", "as", "and", "or", "not", "cross", "left", "inner",
	"join", "on", "by", "asc", "desc", "then", "when", "else", "end", "is", "in", "like", "between", "having", "union"}

// name accepts a word that is no keyword.
func (p *parser) name() (string, bool) {
	t := p.peek()
	if t.kind != wordToken || slices.Contains(keywords, t.text) {
		return "", false
	}
	p.i++
	return t.text, true
}

func (p *parser) statement() (s *statement, err error) {
	s = &statement{limit: -1}
	if err := p.must("select"); err != nil {
		return nil, err
	}
	if err := p.items(s); err != nil {
		return nil, err
	}
	if err := p.must("from"); err != nil {
		return nil, err
	}
	if err := p.source(s); err != nil {
		return nil, err
	}
	if p.word("where") {
		if s.where, err = p.expression(); err != nil {
			return nil, err
		}
	}
	return s, p.rest(s)
}

func (p *parser) items(s *statement) error {
	for {
		if p.operator("*") {
			s.items = append(s.items, item{})
		} else {
			value, err := p.expression()
			if err != nil {
				return err
			}
			column := item{value, columnName(value, len(s.items))}
			if p.word("as") || p.peek().kind == wordToken {
				if name, ok := p.name(); ok {
					column.name = name
				}
			}
			s.items = append(s.items, column)
		}
		if !p.operator(",") || p.peek().text == "from" && p.peek().kind == wordToken { // a comma before FROM is allowed
			return nil
		}
	}
}

// columnName returns the name of a result column without an alias.
func columnName(value *node, i int) string {
	if value.op == "name" {
		return value.path[len(value.path)-1]
	}
	return "f" + strconv.Itoa(i) + "_"
}

func (p *parser) source(s *statement) error {
	table, ok := p.name()
	if !ok {
		return p.unexpected()
	}
	if _, known := tables[table]; !known {
		return fmt.Errorf("there is no table %q in this server's logs", table)
	}
	s.table, s.alias = table, table
	p.word("as")
	if alias, ok := p.name(); ok {
		s.alias = alias
	}
	for {
		u := unnest{}
		switch {
		case p.operator(","):
		case p.word("cross", "inner"):
			if err := p.must("join"); err != nil {
				return err
			}
		case p.word("left"):
			u.left = true
			if err := p.must("join"); err != nil {
				return err
			}
		default:
			return nil
		}
		if err := p.unnest(&u); err != nil {
			return err
		}
		s.unnests = append(s.unnests, u)
	}
}

func (p *parser) unnest(u *unnest) (err error) {
	for _, text := range []string{"unnest", "("} {
		if err := p.must(text); err != nil {
			return err
		}
	}
	if u.array, err = p.expression(); err != nil {
		return err
	}
	if err := p.must(")"); err != nil {
		return err
	}
	p.word("as")
	name, ok := p.name()
	if !ok {
		return p.unexpected()
	}
	u.alias = name
	if p.word("on") {
		return p.must("true")
	}
	return nil
}

// rest reads what follows WHERE.
func (p *parser) rest(s *statement) (err error) {
	if p.word("group") {
		if err := p.must("by"); err != nil {
			return err
		}
		if s.group, err = p.list(); err != nil {
			return err
		}
	}
	if p.word("order") {
		if err := p.must("by"); err != nil {
			return err
		}
		for {
			value, err := p.expression()
			if err != nil {
				return err
			}
			key := sortKey{value: value, descending: p.word("desc")}
			p.word("asc")
			s.order = append(s.order, key)
			if !p.operator(",") {
				break
			}
		}
	}
	if p.word("limit") {
		t := p.peek()
		if s.limit, err = strconv.Atoi(t.text); err != nil || t.kind != numberToken {
			return p.unexpected()
		}
		p.i++
	}
	return nil
}

func (p *parser) list() (all []*node, err error) {
	for {
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		if !p.operator(",") {
			return all, nil
		}
	}
}
