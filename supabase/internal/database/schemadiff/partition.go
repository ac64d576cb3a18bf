package schemadiff

import (
	"slices"
	"strings"
)

// inherited is the first detail of a constraint or an index that a partition has from its table.
// Such an object ends with the partition's place in the table, and is of the partition's own after
// it is detached.
const inherited = "inherited"

func (o Object) inherited() bool {
	return slices.Contains([]string{"constraint", "check", "foreign key", "index"}, o.Kind) && o.Details[0] == inherited
}

// partition returns the table of which a table is a partition, and its bounds as CREATE TABLE has
// them. Both are "" for other tables.
func (o Object) partition() (of, bounds string) {
	if o.Kind != "table" || len(o.Details) == 0 {
		return "", ""
	}
	return o.Details[0], o.Details[1]
}

// compared returns the objects to compare of old and new. A partition that is detached, attached or
// moved to another table has in both the columns, constraints and indexes that it has from its
// table, because detaching and attaching keep them. They are left out of other partitions, which
// change with their table.
func compared(old, new []Object) (comparedOld, comparedNew []Object) {
	before, after := byKey(old), byKey(new)
	switches := func(table string) bool {
		was, existed := before[table]
		is, stays := after[table]
		wasOf, _ := was.partition()
		isOf, _ := is.partition()
		return existed && stays && wasOf != isOf
	}
	choose := func(objects []Object) (chosen []Object) {
		for _, o := range objects {
			if o.inherited() && !switches(o.Parent) {
				continue
			}
			if of, _ := o.partition(); of != "" && switches(o.Key) {
				o.Columns = o.inheritedColumns
			}
			chosen = append(chosen, o)
		}
		return chosen
	}
	return choose(old), choose(new)
}

// detach adds the statements that detach partitions which stay as other tables, or get other
// bounds.
func (d *differ) detach() {
	for _, was := range d.old {
		of, bounds := was.partition()
		is, stays := d.after[was.Key]
		if nowOf, nowBounds := is.partition(); of != "" && stays && (of != nowOf || bounds != nowBounds) {
			d.add("alter table %s detach partition %s;", of, strings.TrimPrefix(was.Key, "table "))
		}
	}
}

// attach adds the statement that makes a table a partition, or the partition of other bounds, after
// all other changes: it needs the columns and constraints of the table.
func (d *differ) attach(was, is Object) {
	of, bounds := is.partition()
	if wasOf, wasBounds := was.partition(); of != "" && (of != wasOf || bounds != wasBounds) {
		d.last = append(d.last, "alter table "+of+" attach partition "+strings.TrimPrefix(is.Key, "table ")+" "+bounds+
			";")
	}
}

// options returns what follows the columns of a table, or the bounds of a partition: inheritance,
// partitioning and storage options.
func options(t Object) string {
	if of, bounds := t.partition(); of != "" {
		_, rest, _ := strings.Cut(t.Create, " partition of "+of+" "+bounds)
		return rest
	}
	return strings.TrimPrefix(tail(t.Create), ")")
}

// options adds the statements that change the storage options of a table.
func (d *differ) options(was, is Object) {
	oldRest, old := storage(was)
	rest, now := storage(is)
	if oldRest != rest {
		d.add("-- %s: its partitioning or inheritance differs; change it by hand", is.Key)
	}
	var reset, set []string
	for _, option := range old {
		name, _, _ := strings.Cut(option, "=")
		if !slices.ContainsFunc(now, func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			reset = append(reset, name)
		}
	}
	for _, option := range now {
		if !slices.Contains(old, option) {
			set = append(set, option)
		}
	}
	if reset != nil {
		d.add("%s reset (%s);", alterTable(is), strings.Join(reset, ", "))
	}
	if set != nil {
		d.add("%s set (%s);", alterTable(is), strings.Join(set, ", "))
	}
}

// storage returns what follows the columns of a table without its storage options, and these.
func storage(t Object) (rest string, set []string) {
	rest = strings.TrimSuffix(options(t), ";")
	if i := strings.LastIndex(rest, " with ("); i >= 0 && strings.HasSuffix(rest, ")") {
		return rest[:i], strings.Split(rest[i+len(" with ("):len(rest)-1], ", ")
	}
	return rest, nil
}
