package changes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// foundMembers says for which rows and users a membership may hold.
type foundMembers struct {
	rows  map[string]int // by memberKey; the position in what was asked
	users map[string]int // by the text of the claim
	pairs map[[2]int]bool
}

// outcomes returns what a membership can be for a user and a row. Policies on the other table only
// hide rows of it, so a user without a row there has none.
func (m *membership) outcomes(values []claimValue, row rowValues) outcomes {
	found := row.found[m]
	if found == nil {
		return mayBeAny
	}
	none := mayBeFalse
	if m.asList {
		none |= mayBeNull
	}
	key, ok, null := m.memberKey(row.value)
	claim := values[m.claim.claim]
	switch {
	case !ok:
		return mayBeAny
	case null, claim.text == nil: // which equals nothing
		return none
	}
	at, asked := found.rows[key]
	user, known := found.users[*claim.text]
	if !asked || !known || found.pairs[[2]int{at, user}] {
		return mayBeAny
	}
	return none
}

// memberKey returns a text that is equal for rows with equal values in the columns of a membership.
// ok is false if a value is not known, null is true if one is null.
func (m *membership) memberKey(value func(column string) (pgoutput.Value, bool)) (key string, ok, null bool) {
	var text strings.Builder
	for _, column := range m.outer {
		v, known := value(column)
		if !known || v.Kind == pgoutput.Unchanged {
			return "", false, false
		}
		null = null || v.Kind == pgoutput.Null
		fmt.Fprintf(&text, "%d:%s,", len(v.Text), v.Text)
	}
	return text.String(), true, null
}

// memberArrays has the types of the arrays of values that a membership compares.
var memberArrays = map[uint32]uint32{oidUUID: 2951, oidInt2: 1005, oidInt4: 1007, oidInt8: 1016, oidText: oidTextArray}

// memberQuestion is a membership with the rows and users of a batch.
type memberQuestion struct {
	member *membership
	key    policyKey
	table  *table
	found  *foundMembers
	rows   [][]string // by column
	users  []string
	oid    uint32 // of the claim
}

// findMembers asks about the memberships in policies, for all users and rows of the batch at once.
// Postgres decides about users with a row in the other table; those without one need not be asked
// about. It leaves out what it cannot find out.
func (b policyCheck) findMembers(ctx context.Context) (map[*membership]*foundMembers, error) {
	if b.alone() || b.s.o.Lenient {
		return nil, nil
	}
	var units []pool.Unit
	var asked []*memberQuestion
	for _, q := range b.memberQuestions() {
		if unit, ok := q.unit(); ok {
			units, asked = append(units, unit), append(asked, q)
		}
	}
	if len(units) == 0 {
		return nil, nil
	}
	results, err := b.s.o.Pool.Units(ctx, units)
	if err != nil {
		return nil, err
	}
	all := map[*membership]*foundMembers{}
	for i, q := range asked {
		if results[i].Err != nil { // such as a table of members without an index
			q.member.leave()
			continue
		}
		for _, row := range results[i].Rows {
			var pair [2]int
			if _, err := fmt.Sscan(*row[0]+" "+*row[1], &pair[0], &pair[1]); err == nil {
				q.found.pairs[pair] = true
			}
		}
		all[q.member] = q.found
		if 2*len(q.found.pairs) > len(q.found.rows)*len(q.users) {
			q.member.leave()
		}
	}
	return all, b.verifyNames(ctx, asked)
}

// leave lets each user be asked about for some time.
func (m *membership) leave() { m.uselessTill.Store(time.Now().Add(uselessFor).UnixNano()) }

// verifyNames returns errPoliciesChanged if the tables that the questions named may be others.
func (b policyCheck) verifyNames(ctx context.Context, asked []*memberQuestion) error {
	var ids []int64
	var roles []string
	for _, q := range asked {
		ids, roles = append(ids, int64(q.key.table)), append(roles, q.key.role)
	}
	versions := map[policyKey]string{}
	queries := &pgx.Batch{}
	queries.Queue(policyVersionsSQL, ids, roles).Query(readVersions(versions))
	if err := b.s.o.Pool.Batch(ctx, pool.Caller{Settings: catalogSettings}, queries); err != nil {
		return err
	}
	for _, q := range asked {
		if versions[q.key] != q.table.policies[q.key.role].version {
			return errPoliciesChanged
		}
	}
	return nil
}

// memberQuestions returns the memberships in the policies of the classes, with their rows and
// users.
func (b policyCheck) memberQuestions() map[*membership]*memberQuestion {
	questions := map[*membership]*memberQuestion{}
	now := time.Now().UnixNano()
	for p, class := range b.classes {
		if class.set == nil || class.values == nil {
			continue
		}
		for _, m := range class.set.members {
			claim := class.values[m.claim.claim]
			if claim.text == nil || m.uselessTill.Load() > now {
				continue
			}
			q := questions[m]
			if q == nil {
				q = b.newQuestion(m, policyKey{p.table, class.role}, claim.oid)
				questions[m] = q
			}
			if _, known := q.found.users[*claim.text]; !known && claim.oid == q.oid {
				q.users = append(q.users, *claim.text)
				q.found.users[*claim.text] = len(q.users)
			}
		}
	}
	return questions
}

// newQuestion returns a question about the rows of a table.
func (b policyCheck) newQuestion(m *membership, key policyKey, oid uint32) *memberQuestion {
	q := &memberQuestion{member: m, key: key, table: b.tables[key.table], oid: oid,
		rows:  make([][]string, len(m.outer)),
		found: &foundMembers{rows: map[string]int{}, users: map[string]int{}, pairs: map[[2]int]bool{}}}
	for _, c := range b.matched {
		if c.relation.ID != key.table {
			continue
		}
		value := func(column string) (pgoutput.Value, bool) {
			v, _, ok := c.value(column)
			return v, ok
		}
		text, ok, null := m.memberKey(value)
		if _, known := q.found.rows[text]; !ok || null || known {
			continue
		}
		for i, column := range m.outer {
			v, _ := value(column)
			q.rows[i] = append(q.rows[i], v.Text)
		}
		q.found.rows[text] = len(q.rows[0])
	}
	return q
}

// unit returns the statement that finds the pairs of a row and a user, by their numbers. It reads
// all rows of the other table: with row_security off, Postgres raises an error if policies would
// hide some. ok is false if nothing is to be asked, or types are not understood.
func (q *memberQuestion) unit() (unit pool.Unit, ok bool) {
	m := q.member
	if len(q.users) == 0 || len(q.rows[0]) == 0 {
		return unit, false
	}
	var parameters, names, conditions []string
	add := func(oid uint32, values []string) (known bool) {
		unit.Types = append(unit.Types, memberArrays[oid])
		unit.Args = append(unit.Args, []byte(arrayLiteral(values)))
		return memberArrays[oid] != 0
	}
	ok = true
	for i, column := range m.outer {
		ok = add(q.table.typeOf(column), q.rows[i]) && ok
		parameters, names = append(parameters, fmt.Sprintf("$%d", i+1)), append(names, fmt.Sprintf("c%d", i+1))
		conditions = append(conditions, fmt.Sprintf("m.%s = r.c%d", identifier(m.inner[i]), i+1))
	}
	ok = add(q.oid, q.users) && ok
	unit.Caller = pool.Caller{Role: "service_role",
		Settings: append([]pool.Setting{{Name: "row_security", Value: "off"}}, commonLimits...)}
	unit.SQL = fmt.Sprintf(`select distinct r.n, u.n from unnest(%s) with ordinality r (%s, n)
		join %s.%s m on %s join unnest($%d) with ordinality u (v, n) on m.%s = u.v`,
		strings.Join(parameters, ", "), strings.Join(names, ", "), identifier(m.relation.Schema),
		identifier(m.relation.Table), strings.Join(conditions, " and "), len(unit.Args), identifier(m.user))
	return unit, ok
}

// typeOf returns the type of a column, or 0.
func (t *table) typeOf(column string) uint32 {
	for _, c := range t.columns {
		if c.name == column {
			return c.oid
		}
	}
	return 0
}
