package changes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// image is a version of a row that is no longer in the table, or perhaps not: the old row of a
// change, or a new row that a later statement has written again.
type image struct {
	change  *matchedChange
	old     bool
	literal string          // the row as Postgres writes it
	missing map[string]bool // columns whose values the log has not
}

// grants returns what a class may know if it sees the image.
func (m *image) grants() verdict {
	if m.old {
		return seesOld
	}
	return seesRow
}

// newImage returns an image of a change.
func newImage(c *matchedChange, t *table, old bool) *image {
	m := &image{change: c, old: old, missing: map[string]bool{}}
	fields := make([]string, len(t.columns))
	for i, column := range t.columns {
		v, ok := c.imageValue(column.name, old)
		switch {
		case !ok:
			m.missing[column.name] = true
		case v.Kind == pgoutput.Text:
			fields[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v.Text) + `"`
		}
	}
	m.literal = "(" + strings.Join(fields, ",") + ")"
	return m
}

// imageValue returns a value of the old or the new row. ok is false if the log has not got it.
func (c *matchedChange) imageValue(column string, old bool) (v pgoutput.Value, ok bool) {
	at := slices.IndexFunc(c.relation.Columns, func(col pgoutput.Column) bool { return col.Name == column })
	switch {
	case at < 0:
		return v, false
	case old:
		return c.identity[at], c.identity != nil && c.known[at] && c.identity[at].Kind != pgoutput.Unchanged
	}
	return c.record[at], c.record[at].Kind != pgoutput.Unchanged
}

// decidable reports whether the policies can be evaluated for an image.
func (m *image) decidable(set *policySet) bool {
	return len(m.missing) == 0 ||
		set.understood && !slices.ContainsFunc(set.columns, func(name string) bool { return m.missing[name] })
}

// checkImages asks the policies about images: about new rows that were written again since, about
// old rows of updates of which the log has more than the key, and about deleted rows.
func (b policyCheck) checkImages(ctx context.Context, t *table, pure func() (bool, error), classes []*userClass,
	wanted map[*userClass][]*matchedChange) error {
	evaluated, compared := map[*userClass][]*image{}, map[*userClass][]*image{}
	for _, class := range classes {
		if _, gone := b.diverted[class.first]; gone || class.set == nil {
			continue
		}
		for _, c := range wanted[class] {
			if err := b.collectImages(class, c, t, pure, evaluated, compared); err != nil {
				return err
			}
		}
	}
	if err := b.evaluateImages(ctx, t, classes, evaluated); err != nil {
		return err
	}
	return b.compareImages(ctx, t, classes, compared)
}

// collectImages adds the images of a change about which a class has to ask.
func (b policyCheck) collectImages(class *userClass, c *matchedChange, t *table, pure func() (bool, error),
	evaluated, compared map[*userClass][]*image) error {
	seen := class.verdicts[c]
	if c.kind == kindDelete {
		b.collectDelete(class, c, t, evaluated)
		return nil
	}
	if seen&seesNow == 0 {
		return nil
	}
	asksOld := c.kind == kindUpdate && c.old != nil && !c.oldKeyOnly
	if asksOld && class.set.understood && seen&seesRow != 0 && c.keeps(class.set.columns) {
		class.verdicts[c] |= seesOld
		class.byText = true
		asksOld = false
	}
	if seen&seesRow != 0 && !asksOld {
		return nil
	}
	isPure, err := pure()
	if err != nil {
		return err
	}
	isPure = isPure && class.set.pure
	if seen&seesRow == 0 {
		m, to := newImage(c, t, false), compared
		if isPure && m.decidable(class.set) {
			to = evaluated
		}
		to[class] = append(to[class], m)
	}
	if !asksOld || !isPure {
		return nil
	}
	if m := newImage(c, t, true); m.decidable(class.set) {
		evaluated[class] = append(evaluated[class], m)
	}
	return nil
}

// collectDelete adds the old row of a DELETE, as far as the log has it.
func (b policyCheck) collectDelete(class *userClass, c *matchedChange, t *table,
	evaluated map[*userClass][]*image) {
	if m := newImage(c, t, true); m.decidable(class.set) {
		evaluated[class] = append(evaluated[class], m)
		return
	}
	b.s.warnOnce(policyKey{t.id, "delete"}, "users get no DELETE of a table: "+
		"its policies read columns that its replica identity has not", "schema", t.schema, "table", t.name)
}

// keeps reports whether an update has the same values in the old and the new row.
func (c *matchedChange) keeps(columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		before, known := c.imageValue(name, true)
		after, ok := c.imageValue(name, false)
		return !known || !ok || before != after
	})
}

// evaluateImages evaluates the policies for images, as one of the users of each class.
func (b policyCheck) evaluateImages(ctx context.Context, t *table, classes []*userClass,
	images map[*userClass][]*image) error {
	var units []pool.Unit
	var asked []*userClass
	for _, class := range classes {
		if len(images[class]) > 0 {
			units, asked = append(units, b.imageUnit(class, t, images[class])), append(asked, class)
			class.byText = true
		}
	}
	results, err := b.runUnits(ctx, units)
	if err != nil {
		return err
	}
	for i, class := range asked {
		if err := results[i].Err; err != nil {
			b.failClass(class, err, reasonPolicy)
			continue
		}
		for _, row := range results[i].Rows {
			if n, err := strconv.Atoi(*row[0]); err == nil && n >= 1 && n <= len(images[class]) {
				m := images[class][n-1]
				class.verdicts[m.change] |= m.grants()
			}
		}
	}
	return nil
}

// imageUnit returns the statement that evaluates the policies for images. Their expressions name
// the columns of the table, which the images have.
func (b policyCheck) imageUnit(class *userClass, t *table, images []*image) pool.Unit {
	const n = `"number of the image"`
	literals := make([]string, len(images))
	for i, m := range images {
		literals[i] = m.literal
	}
	return pool.Unit{
		Caller: b.caller(class.first),
		SQL: fmt.Sprintf(`select i.%[1]s from generate_subscripts($1, 1) i (%[1]s)
			where (select (%[2]s) from unnest(($1)[i.%[1]s:i.%[1]s]) as %[3]s)`, n, class.set.sql, identifier(t.name)),
		Args: [][]byte{[]byte(arrayLiteral(literals))}, Types: []uint32{t.rows},
	}
}

// caller returns a user with the limits and forms of values of the check.
func (b policyCheck) caller(p pair) pool.Caller {
	user := p.user.Value()
	return pool.Caller{Role: user.role, Claims: user.claims, Settings: slices.Concat(b.limits(), asInLog.Settings[1:])}
}

// compareImages finds out which images have the values that the row has now, which the class sees:
// then they reveal nothing that a SELECT does not.
func (b policyCheck) compareImages(ctx context.Context, t *table, classes []*userClass,
	images map[*userClass][]*image) error {
	var units []pool.Unit
	var asked []*userClass
	var compared []*image
	for _, class := range classes {
		for _, m := range images[class] {
			units = append(units, b.comparingUnit(class, t, m))
			asked, compared = append(asked, class), append(compared, m)
		}
	}
	results, err := b.runUnits(ctx, units)
	if err != nil {
		return err
	}
	for i, class := range asked {
		switch {
		case results[i].Err != nil:
			b.failClass(class, results[i].Err, reasonPolicy)
		case len(results[i].Rows) > 0:
			class.verdicts[compared[i].change] |= compared[i].grants()
		}
	}
	return nil
}

// comparingUnit returns the statement that compares an image with the row that its key has now, by
// the columns that the class may read.
func (b policyCheck) comparingUnit(class *userClass, t *table, m *image) pool.Unit {
	var now, then, keys []string
	for i, column := range t.columns {
		name := identifier(column.name)
		if column.key {
			keys = append(keys, "t."+name+" = i."+name)
		}
		if t.readable[class.role][i] && !m.missing[column.name] {
			now, then = append(now, "t."+name), append(then, "i."+name)
		}
	}
	return pool.Unit{
		Caller: b.caller(class.first),
		SQL: fmt.Sprintf(`select true from unnest($1) i, lateral (
			select from %s.%s t where %s and row(%s)::record *= row(%s)::record limit 1) found`,
			identifier(t.schema), identifier(t.name),
			strings.Join(keys, " and "), strings.Join(now, ", "), strings.Join(then, ", ")),
		Args: [][]byte{[]byte(arrayLiteral([]string{m.literal}))}, Types: []uint32{t.rows},
	}
}

// pureSQL reports whether what the policies of a table read does not depend on the table itself:
// the tables in their subqueries are no views and have no policies with functions of users.
const pureSQL = `
	with recursive root (id) as (
		select case when relispartition then pg_partition_root(oid) else oid end from pg_class where oid = $1::int8::oid
	), reached (id) as (
		select d.refobjid from root, pg_policy l join pg_depend d on d.objid = l.oid
		where l.polrelid = root.id and d.classid = 'pg_policy'::regclass and d.refclassid = 'pg_class'::regclass
			and d.refobjid <> root.id
		union
		select d.refobjid from reached x join pg_policy l on l.polrelid = x.id join pg_depend d on d.objid = l.oid
		where d.classid = 'pg_policy'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid <> x.id
	)
	select not exists (
		select from reached x join pg_class c on c.oid = x.id
		where c.oid = (select id from root) or c.relkind not in ('r', 'p') or exists (
			select from pg_policy l join pg_depend d on d.objid = l.oid join pg_proc f on f.oid = d.refobjid
			where l.polrelid = x.id and d.classid = 'pg_policy'::regclass and d.refclassid = 'pg_proc'::regclass
				and not (f.pronamespace = to_regnamespace('auth') and f.proname in ('uid', 'jwt', 'role', 'email'))))`

// pureTable returns a function that asks pureSQL once.
func (b policyCheck) pureTable(ctx context.Context, t *table) func() (bool, error) {
	var pure, asked bool
	return func() (bool, error) {
		if asked {
			return pure, nil
		}
		asked = true
		err := b.s.queryValue(ctx, pureSQL, []any{int64(t.id)}, &pure)
		return pure, err
	}
}
