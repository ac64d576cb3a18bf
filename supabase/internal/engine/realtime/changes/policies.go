package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unique"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// checkPolicies finds out which rows each user may see, for tables with row level security. All
// users are checked in one round trip, with one statement per user and table. If a policy fails,
// its users see nothing.
func (b *batch) checkPolicies(ctx context.Context) error {
	b.visible = map[rowForUser]bool{}
	wanted := map[unique.Handle[policyUser]]map[uint32][]*matchedChange{}
	var order []unique.Handle[policyUser]
	for _, c := range b.matched {
		t := b.tables[c.relation.ID]
		if t == nil || !t.secured || c.kind == kindDelete {
			continue
		}
		for i, l := range c.listeners {
			user := l.user
			row := rowForUser{user, c}
			if _, known := b.visible[row]; known || c.results[i] != accepts || b.changeError(c, t, l.role) != "" {
				continue
			}
			b.visible[row] = false
			if wanted[user] == nil {
				wanted[user] = map[uint32][]*matchedChange{}
				order = append(order, user)
			}
			wanted[user][c.relation.ID] = append(wanted[user][c.relation.ID], c)
		}
	}
	slices.SortStableFunc(order,
		func(x, y unique.Handle[policyUser]) int { return strings.Compare(x.Value().role, y.Value().role) })
	for users := range slices.Chunk(order, 500) {
		if err := b.checkPoliciesAs(ctx, users, wanted); err != nil {
			return err
		}
	}
	return nil
}

// maxSlowPolicies is how many users of a batch may have a policy that takes too long. The batch's
// rows are hidden from the remaining users.
const maxSlowPolicies = 3

// checkPoliciesAs reads the rows as each of the users. If a statement fails, it reads them as one
// user after the other.
func (b *batch) checkPoliciesAs(ctx context.Context, users []unique.Handle[policyUser],
	wanted map[unique.Handle[policyUser]]map[uint32][]*matchedChange) error {
	if b.slowPolicies >= maxSlowPolicies {
		b.hideAll(users)
		return nil
	}
	queries := &pgx.Batch{}
	queueLimits(queries)
	role := ""
	for _, user := range users {
		queries.Queue(`select set_config('request.jwt.claims', $1, true)`, user.Value().claims)
		if next := user.Value().role; next != role { // Postgres plans the statements again
			queries.Queue(`select set_config('role', $1, true)`, next)
			role = next
		}
		for id, changes := range wanted[user] {
			b.queuePolicyCheck(queries, user, b.tables[id], changes)
		}
	}
	err := b.s.o.Pool.Batch(ctx, pool.Caller{}, queries)
	if err == nil || !isQueryError(err) {
		return err
	}
	if len(users) == 1 {
		if pool.IsCode(err, "57014") {
			b.slowPolicies++
		}
		b.hideAll(users)
		b.s.o.Log.Warn("a policy failed; its users do not get the changes", "role", role, "error", err)
		return nil
	}
	for _, user := range users {
		if err := b.checkPoliciesAs(ctx, []unique.Handle[policyUser]{user}, wanted); err != nil {
			return err
		}
	}
	return nil
}

// hideAll hides all rows of the batch from users.
func (b *batch) hideAll(users []unique.Handle[policyUser]) {
	for row := range b.visible {
		if slices.Contains(users, row.user) {
			b.visible[row] = false
		}
	}
}

// queuePolicyCheck queues the statement that reads the rows of the changes by their primary keys as
// the present role.
func (b *batch) queuePolicyCheck(queries *pgx.Batch, user unique.Handle[policyUser], t *table,
	changes []*matchedChange) {
	var args []any
	var arrays, names, conditions []string
	keys := make([][]string, len(changes)) // by change
	for _, column := range t.columns {
		if !column.key {
			continue
		}
		n := len(names) + 1
		names = append(names, fmt.Sprintf("k%d", n))
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", n, column.sqlType))
		conditions = append(conditions, fmt.Sprintf("t.%s = k.k%d", identifier(column.name), n))
		for i, c := range changes {
			if value, _, ok := c.value(column.name); ok && value.Kind == pgoutput.Text {
				keys[i] = append(keys[i], value.Text)
			}
		}
	}
	var known []*matchedChange
	for i, c := range changes {
		if len(keys[i]) == len(names) { // otherwise the key was renamed since
			known = append(known, c)
		}
	}
	for n := range names {
		column := make([]string, 0, len(known))
		for i := range changes {
			if len(keys[i]) == len(names) {
				column = append(column, keys[i][n])
			}
		}
		args = append(args, arrayLiteral(column))
	}
	// The limit makes the server look up each key, whatever it knows about the size of the table.
	sql := fmt.Sprintf(`
		select k.n from unnest(%s) with ordinality k (%s, n),
			lateral (select from %s.%s t where %s limit 1) found`,
		strings.Join(arrays, ", "), strings.Join(names, ", "), identifier(t.schema), identifier(t.name),
		strings.Join(conditions, " and "))
	queries.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, n := range found {
			if n < 1 || int(n) > len(known) {
				return errors.New("the server returned a row that was not asked for")
			}
			b.visible[rowForUser{user, known[n-1]}] = true
		}
		return err
	})
}
