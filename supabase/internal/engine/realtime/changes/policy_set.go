package changes

import (
	"slices"
	"strings"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// policySet is what the engine understands about the policies that decide which rows of a table a
// role may select. It only saves questions: Postgres decides.
type policySet struct {
	version  string // changes when the policies do
	allow    []*policyExpr
	restrict []*policyExpr
	sql      string // the policies as one expression

	// claims are the largest expressions that read the claims alone. If understood, users with
	// equal values of them see the same rows.
	claims     []string
	understood bool
	columns    []string // that the policies read, if understood
	// pure means that the policies neither call functions of users nor name their own table in a
	// subquery.
	pure bool

	members []*membership

	values claimCache
}

// newPolicySet collects what policies read.
func newPolicySet(allow, restrict []*policyExpr) *policySet {
	set := &policySet{allow: allow, restrict: restrict, understood: true}
	for _, e := range slices.Concat(allow, restrict) {
		set.collect(e)
	}
	set.sql = "false"
	if len(allow) > 0 {
		set.sql = joinExpressions(allow, " or ")
	}
	if len(restrict) > 0 {
		set.sql = "(" + set.sql + ") and " + joinExpressions(restrict, " and ")
	}
	return set
}

func joinExpressions(all []*policyExpr, by string) string {
	texts := make([]string, len(all))
	for i, e := range all {
		texts[i] = "(" + e.text + ")"
	}
	return strings.Join(texts, by)
}

func (set *policySet) collect(e *policyExpr) {
	switch {
	case e.member != nil:
		set.members, set.understood = append(set.members, e.member), false
		set.collect(e.member.claim)
		return
	case e.reads == readsClaims:
		e.claim = slices.Index(set.claims, e.text)
		if e.claim < 0 {
			e.claim = len(set.claims)
			set.claims = append(set.claims, e.text)
		}
		return
	case e.reads&readsOther != 0 && len(e.args) == 0:
		set.understood = false
	case e.op == opColumn && !slices.Contains(set.columns, e.column):
		set.columns = append(set.columns, e.column)
	}
	for _, a := range e.args {
		set.collect(a)
	}
}

// claimValue is the value of an expression that reads the claims alone.
type claimValue struct {
	text *string // nil is null
	oid  uint32
}

// outcomes is a set of results that a boolean expression may have.
type outcomes uint8

const (
	mayBeTrue outcomes = 1 << iota
	mayBeFalse
	mayBeNull
	mayBeAny = mayBeTrue | mayBeFalse | mayBeNull
)

// rowValues are the values of a row that an evaluation may use.
type rowValues struct {
	table *table
	value func(column string) (v pgoutput.Value, ok bool)
	found map[*membership]*foundMembers // of the memberships that were asked about
}

// excludes reports whether a user with these values of the claims cannot see a row. It never
// returns true for a row that Postgres would return.
func (set *policySet) excludes(values []claimValue, row rowValues) bool {
	result := mayBeFalse
	for _, e := range set.allow {
		result = either(result, e.outcomes(values, row))
	}
	for _, e := range set.restrict {
		result = both(result, e.outcomes(values, row))
	}
	return result&mayBeTrue == 0
}

func (e *policyExpr) outcomes(values []claimValue, row rowValues) outcomes {
	switch {
	case e.member != nil:
		return e.member.outcomes(values, row)
	case e.reads == readsClaims:
		return values[e.claim].outcomes()
	case e.reads == 0 && (e.text == "true" || e.text == "false"):
		return outcomesOf(e.text == "true")
	}
	switch e.op {
	case opSame:
		return e.args[0].outcomes(values, row)
	case opNot:
		return negate(e.args[0].outcomes(values, row))
	case opAnd:
		result := mayBeTrue
		for _, a := range e.args {
			result = both(result, a.outcomes(values, row))
		}
		return result
	case opOr:
		result := mayBeFalse
		for _, a := range e.args {
			result = either(result, a.outcomes(values, row))
		}
		return result
	case opEqual:
		return e.equals(values, row)
	}
	return mayBeAny
}

func outcomesOf(holds bool) outcomes {
	if holds {
		return mayBeTrue
	}
	return mayBeFalse
}

// outcomes returns the outcome of a boolean.
func (v claimValue) outcomes() outcomes {
	switch {
	case v.text == nil:
		return mayBeNull
	case v.oid != oidBool:
		return mayBeAny
	}
	return outcomesOf(*v.text == "true")
}

// equals compares a column with claims, if their values are equal if and only if their texts are.
func (e *policyExpr) equals(values []claimValue, row rowValues) outcomes {
	for i, side := range e.args {
		other := e.args[1-i]
		column, asText := side.asColumn()
		if column == "" || other.reads != readsClaims {
			continue
		}
		claim := values[other.claim]
		v, ok := row.value(column)
		switch {
		case claim.text == nil:
			return mayBeNull
		case !ok || !row.table.comparable(column, asText, claim.oid):
			return mayBeAny
		case v.Kind == pgoutput.Null:
			return mayBeNull
		}
		return outcomesOf(v.Text == *claim.text)
	}
	return mayBeAny
}

// asColumn returns the column whose value the expression has, and whether it has it as a text.
func (e *policyExpr) asColumn() (column string, asText bool) {
	switch e.op {
	case opColumn:
		return e.column, false
	case opSame:
		return e.args[0].asColumn()
	case opText:
		column, _ = e.args[0].asColumn()
		return column, true
	}
	return "", false
}

// comparable reports whether a column equals a value of a type if and only if their texts are
// equal.
func (t *table) comparable(column string, asText bool, oid uint32) bool {
	at := slices.IndexFunc(t.columns, func(c tableColumn) bool { return c.name == column })
	if at < 0 {
		return false
	}
	c := t.columns[at]
	switch c.oid {
	case oidUUID:
		return !asText && oid == oidUUID || asText && oid == oidText
	case oidInt2, oidInt4, oidInt8:
		return !asText && (oid == oidInt2 || oid == oidInt4 || oid == oidInt8) || asText && oid == oidText
	case oidText, oidVarchar:
		return c.plainCollation && oid == oidText
	}
	return false
}

// negate, both and either are NOT, AND and OR of SQL for sets of results.
func negate(a outcomes) outcomes {
	return a&mayBeNull | a&mayBeTrue<<1 | a&mayBeFalse>>1
}

func both(a, b outcomes) (result outcomes) {
	result = (a | b) & mayBeFalse
	result |= a & b & mayBeTrue
	if a&mayBeNull != 0 && b&(mayBeTrue|mayBeNull) != 0 || b&mayBeNull != 0 && a&(mayBeTrue|mayBeNull) != 0 {
		result |= mayBeNull
	}
	return result
}

func either(a, b outcomes) outcomes { return negate(both(negate(a), negate(b))) }
