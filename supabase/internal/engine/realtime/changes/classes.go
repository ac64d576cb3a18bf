package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// userClass has users of a table about which the policies decide alike: the users have the same
// role and the policies read equal values from their claims. The first one is asked.
type userClass struct {
	first    pair
	members  []pair
	role     string
	set      *policySet   // nil if the policies were not read
	values   []claimValue // nil if unknown
	verdicts map[*matchedChange]verdict
	byText   bool // a verdict came from the text of the policies
}

// verdict says what a class may know about a change.
type verdict uint8

const (
	seesRow  verdict = 1 << iota // the new row
	seesOld                      // the old row
	seesNow                      // the row as it is now, which a later statement may have written
	excluded                     // nothing, by the text of the policies
)

// errPoliciesChanged means that policies changed during a check, which is tried again.
var errPoliciesChanged = errors.New("the policies changed during the check")

// pairsToCheck returns the pairs about which the policies have to be asked.
func (b policyCheck) pairsToCheck() (pairs []pair) {
	known := map[pair]bool{}
	for _, c := range b.matched {
		t := b.tables[c.relation.ID]
		if t == nil || !t.secured {
			continue
		}
		for i := range c.listeners {
			l := &c.listeners[i]
			if p := c.pair(l); !known[p] && b.needsVerdict(c, t, i) {
				known[p] = true
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// needsVerdict reports whether the policies decide about the listener i of a change.
func (b policyCheck) needsVerdict(c *matchedChange, t *table, i int) bool {
	l := &c.listeners[i]
	return c.results[i] == accepts && b.mustCheck(c, t, l.role) && b.changeError(c, t, l.role) == "" &&
		!b.hides(t, l.role)
}

// groupUsers divides pairs into classes.
func (b policyCheck) groupUsers(ctx context.Context, pairs []pair) error {
	b.classes = map[pair]*userClass{}
	if err := b.evaluateClaims(ctx, pairs); err != nil {
		return err
	}
	alike := map[string]*userClass{}
	for _, p := range pairs {
		role := p.user.Value().role
		class := &userClass{first: p, role: role, set: b.tables[p.table].policies[role],
			verdicts: map[*matchedChange]verdict{}}
		if set := class.set; set != nil && !b.alone() {
			class.values, _ = set.values.get(p.user)
			if len(set.claims) == 0 {
				class.values = []claimValue{}
			}
			if set.understood && class.values != nil {
				key := fmt.Sprintf("%d %q", p.table, role) + claimsKey(class.values)
				if alike[key] == nil {
					alike[key] = class
				}
				class = alike[key]
			}
		}
		class.members = append(class.members, p)
		b.classes[p] = class
	}
	return nil
}

// claimsKey returns a text that is equal for equal values.
func claimsKey(values []claimValue) string {
	var key strings.Builder
	for _, v := range values {
		if v.text == nil {
			key.WriteString("\x00-")
			continue
		}
		fmt.Fprintf(&key, "\x00%d:%d:%s", v.oid, len(*v.text), *v.text)
	}
	return key.String()
}

// evaluateClaims lets Postgres evaluate what the policies read from the claims of each user, once a
// user. Users whose claims cannot be evaluated are asked one by one.
func (b policyCheck) evaluateClaims(ctx context.Context, pairs []pair) error {
	if b.alone() {
		return nil
	}
	var units []pool.Unit
	var asked []pair
	for _, p := range pairs {
		user := p.user.Value()
		set := b.tables[p.table].policies[user.role]
		if set == nil || len(set.claims) == 0 {
			continue
		}
		if _, known := set.values.get(p.user); known {
			continue
		}
		asked = append(asked, p)
		caller := pool.Caller{Role: user.role, Claims: user.claims, Settings: commonLimits}
		units = append(units, pool.Unit{Caller: caller, SQL: claimsSQL(set.claims)})
	}
	if len(units) == 0 {
		return nil
	}
	results, err := b.s.o.Pool.Units(ctx, units)
	if err != nil {
		return err
	}
	for i, p := range asked {
		result := results[i]
		if result.Err != nil && !isQueryError(result.Err) {
			return result.Err
		}
		set := b.tables[p.table].policies[p.user.Value().role]
		set.values.put(p.user, claimValues(result, len(set.claims)))
	}
	return nil
}

func claimsSQL(claims []string) string {
	var columns []string
	for _, c := range claims {
		columns = append(columns, "("+c+")::text, pg_typeof("+c+")::oid")
	}
	return "select " + strings.Join(columns, ", ")
}

// claimValues returns the values of n expressions, or nil if they failed.
func claimValues(result pool.UnitResult, n int) []claimValue {
	if result.Err != nil || len(result.Rows) != 1 || len(result.Rows[0]) != 2*n {
		return nil
	}
	values := make([]claimValue, n)
	for i := range values {
		text, oid := result.Rows[0][2*i], result.Rows[0][2*i+1]
		if oid == nil {
			return nil
		}
		if _, err := fmt.Sscan(*oid, &values[i].oid); err != nil {
			return nil
		}
		values[i].text = text
	}
	return values
}

// excludes reports whether the policies, as far as they are understood, hide an image of a change
// from a class.
func (class *userClass) excludes(c *matchedChange, t *table, found map[*membership]*foundMembers) bool {
	if class.set == nil || class.values == nil && len(class.set.claims) > 0 {
		return false
	}
	return class.set.excludes(class.values, rowValues{t, func(column string) (pgoutput.Value, bool) {
		v, _, ok := c.value(column)
		return v, ok
	}, found})
}

// verifyPolicies returns errPoliciesChanged if the policies of a table are no longer those by which
// users were put into classes or images were judged.
func (b policyCheck) verifyPolicies(ctx context.Context, t *table, classes []*userClass) error {
	var ids []int64
	var roles []string
	known := map[string]bool{}
	for _, class := range classes {
		if (len(class.members) > 1 || class.byText) && !known[class.role] {
			known[class.role] = true
			ids, roles = append(ids, int64(t.id)), append(roles, class.role)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	versions := map[policyKey]string{}
	queries := &pgx.Batch{}
	queries.Queue(policyVersionsSQL, ids, roles).Query(readVersions(versions))
	if err := b.s.o.Pool.Batch(ctx, pool.Caller{Settings: catalogSettings}, queries); err != nil {
		return err
	}
	for role := range known {
		if key := (policyKey{t.id, role}); t.policies[role] == nil || versions[key] != t.policies[role].version {
			return errPoliciesChanged
		}
	}
	return nil
}
