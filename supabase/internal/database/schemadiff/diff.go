package schemadiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Diff returns the statements that turn a database with the objects old into one with the objects
// new. Both are in the order of Read. A statement that begins with -- names a change that it does
// not cover.
//
// First it detaches partitions, and drops the objects that new does not have, and those that must
// be created again because they, or objects that they need, change. Then it creates and changes
// objects. Last it drops what changed objects needed until then, such as the old type of a column,
// and attaches partitions.
func Diff(old, new []Object) []string {
	old, new = compared(old, new)
	d := differ{
		before: byKey(old), after: byKey(new), old: old, new: new,
		gone: map[id]bool{}, made: map[id]bool{}, again: map[string]bool{}, late: map[string]bool{},
		rebuilt: map[string]bool{}, revoked: map[string]bool{},
	}
	for _, o := range old {
		if _, stays := d.after[o.Key]; !stays && !o.attached() {
			d.gone[o.id()] = true
		}
	}
	d.findAgain()
	d.findLate()
	d.detach()
	for _, o := range slices.Backward(old) {
		if d.again[o.Key] || d.dropped(o) && !d.late[o.Key] {
			d.out = append(d.out, o.dropStatement())
			d.granted(o)
		}
	}
	d.dropIdentities()
	for _, o := range new {
		d.bring(o)
	}
	for _, o := range slices.Backward(old) {
		if d.late[o.Key] {
			d.out = append(d.out, o.Drop)
		}
	}
	return append(d.unchecked(), d.last...)
}

// Losses returns the statements of Diff that delete rows or values.
func Losses(statements []string) (lost []string) {
	for _, s := range statements {
		switch {
		case strings.HasPrefix(s, "drop table "),
			strings.HasPrefix(s, "alter table ") && strings.Contains(s, " drop column "),
			strings.HasPrefix(s, "alter type ") && strings.Contains(s, " drop attribute "):
			lost = append(lost, s)
		}
	}
	return lost
}

// unchecked returns the statements with a setting before them that lets functions be created before
// the relations that their text uses. Postgres does not know those dependencies.
func (d *differ) unchecked() []string {
	makes := func(statement string) bool {
		return strings.HasPrefix(statement, "CREATE OR REPLACE FUNCTION ") ||
			strings.HasPrefix(statement, "CREATE OR REPLACE PROCEDURE ")
	}
	if !slices.ContainsFunc(d.out, makes) {
		return d.out
	}
	return append([]string{"set check_function_bodies = off;"}, d.out...)
}

// bring adds the statements that create or change an object of the new database.
func (d *differ) bring(o Object) {
	was, existed := d.before[o.Key]
	switch {
	case o.usual() && (d.fresh(o) || existed && was.Create == o.Create):
		return
	case !existed:
		d.out = append(d.out, o.Create)
	case d.again[o.Key]:
		d.out = append(d.out, o.Create)
		d.made[o.id()] = true
	case !same(was, o):
		d.change(was, o)
	case o.attached() && d.made[o.id()] || o.subject != 0 && d.made[id{relations, o.subject}]:
		d.out = append(d.out, o.Create) // it ended when its object was dropped
	case o.Kind == "column grants" && d.revoked[o.Parent]:
		d.out = append(d.out, o.Create)
	default:
		return
	}
	d.granted(o)
}

// fresh reports whether the diff creates the object of a grant, which then gets the usual grants.
func (d *differ) fresh(grants Object) bool {
	for _, o := range d.new {
		if !o.attached() && o.id() == grants.id() {
			_, existed := d.before[o.Key]
			return !existed || d.again[o.Key]
		}
	}
	return false
}

// granted records that the grants on a table begin with a REVOKE, which also takes the grants on
// columns.
func (d *differ) granted(o Object) {
	if o.Kind == "grants" && o.Parent != "" {
		d.revoked[o.Parent] = true
	}
}

// id identifies an object in a catalogue.
type id struct{ class, oid uint32 }

// relations is the oid of pg_class.
const relations = 1259

func (o Object) id() id { return id{o.class, o.oid} }

// attached reports whether an object is a property of another one with the same id.
func (o Object) attached() bool {
	return slices.Contains([]string{"comment", "grants", "column grants", "sequence owner", "row level security",
		"replica identity"}, o.Kind)
}

// usual reports whether the object stands for the grants that every new object gets.
func (o Object) usual() bool { return o.Kind == "grants" && o.Details[0] == "usual" }

// dropStatement returns the statements that remove the object.
func (o Object) dropStatement() string {
	if o.Kind == "grants" {
		return o.revokeOthers() + o.Drop
	}
	return o.Drop
}

// revokeOthers returns the statement that takes all privileges from roles other than the API's, ""
// if they have none.
func (o Object) revokeOthers() string {
	if len(o.Details) < 2 {
		return ""
	}
	return fmt.Sprintf("revoke all on %s from %s;\n", strings.TrimPrefix(o.Key, "grants "),
		strings.Join(o.Details[1:], ", "))
}

type differ struct {
	before, after map[string]Object
	old, new      []Object
	gone          map[id]bool     // dropped; ids of the old database
	again         map[string]bool // dropped and created again
	late          map[string]bool // dropped at the end
	rebuilt       map[string]bool // enums that are replaced by a new type
	made          map[id]bool     // created again; ids of the new database
	revoked       map[string]bool // tables whose grants are written
	out, last     []string
}

func byKey(objects []Object) map[string]Object {
	m := make(map[string]Object, len(objects))
	for _, o := range objects {
		m[o.Key] = o
	}
	return m
}

// same reports whether two objects with the same key are equal.
func same(a, b Object) bool {
	if a.Kind != "table" {
		return a.Create == b.Create
	}
	return slices.Equal(a.Columns, b.Columns) && tail(a.Create) == tail(b.Create) && a.unlogged() == b.unlogged()
}

// dropped reports whether an object of the old database needs a statement that drops it.
func (d *differ) dropped(o Object) bool {
	_, stays := d.after[o.Key]
	return !stays && o.Drop != "" && !d.endsWithTable(o) && !(o.attached() && d.gone[o.id()])
}

// dropIdentities ends identity columns that become others. The names of their sequences are then
// free.
func (d *differ) dropIdentities() {
	for _, was := range d.old {
		is := d.after[was.Key]
		for _, c := range was.Columns {
			if now, stays := column(is, c.Name); stays && c.identity() && !now.identity() {
				d.add("%s alter column %s drop identity;", alterTable(is), ident(c.Name))
			}
		}
	}
}

// endsWithTable reports whether dropping the table of o is enough. Objects that may need a function
// are dropped before, because the function can be dropped before the table.
func (d *differ) endsWithTable(o Object) bool {
	if o.Parent == "" || !o.attached() && o.Kind != "constraint" && o.Kind != "published table" {
		return false
	}
	_, was := d.before[o.Parent]
	_, stays := d.after[o.Parent]
	return was && !stays
}

// findAgain fills again: objects that Postgres cannot change, and all that need them or a column
// that changes.
func (d *differ) findAgain() {
	ids, columns := map[id]bool{}, map[need]bool{}
	for _, was := range d.old {
		is, stays := d.after[was.Key]
		if !stays || same(was, is) {
			continue
		}
		switch {
		case was.Kind == "table":
			for name := range changedColumns(was, is) {
				columns[need{was.id(), name}] = true
			}
		case was.Kind == "type" && d.needsNewEnum(was, is):
			d.rebuilt[was.Key] = true
			ids[was.id()] = true
			for _, c := range d.columnsOf(strings.TrimPrefix(was.Key, "type ")) {
				columns[c] = true
			}
		case mustCreateAgain(was, is):
			d.again[was.Key] = true
			ids[was.id()] = true
		}
	}
	for grows := true; grows; {
		grows = false
		for _, o := range d.old {
			_, stays := d.after[o.Key]
			if !stays || d.again[o.Key] || o.attached() || o.Drop == "" || !droppable(o.Kind) {
				continue
			}
			if slices.ContainsFunc(o.needs, func(n need) bool { return ids[n.id] || columns[n] }) {
				d.again[o.Key], ids[o.id()], grows = true, true, true
			}
		}
	}
}

// columnsOf returns the columns of the type, and of arrays of it, in the old database.
func (d *differ) columnsOf(name string) (list []need) {
	for _, o := range d.old {
		for _, c := range o.Columns {
			if c.Type == name || c.Type == name+"[]" {
				list = append(list, need{o.id(), c.Name})
			}
		}
	}
	return list
}

// droppable reports whether an object can be dropped and created again without a loss of data.
func droppable(kind string) bool {
	return !slices.Contains([]string{"table", "type", "composite type", "domain", "range type", "sequence", "schema",
		"extension", "collation", "text search dictionary", "text search configuration"}, kind)
}

// findLate fills late: dropped objects that an object needs until it is changed, and all that those
// need.
func (d *differ) findLate() {
	byID := map[id]Object{}
	for _, o := range d.old {
		if !o.attached() {
			byID[o.id()] = o
		}
	}
	for grows := true; grows; {
		grows = false
		for _, o := range d.old {
			_, stays := d.after[o.Key]
			if !d.late[o.Key] && (!stays || d.again[o.Key]) {
				continue
			}
			for _, n := range o.needs {
				needed := byID[n.id]
				if d.gone[n.id] && !d.late[needed.Key] && d.dropped(needed) && !droppableEarly(needed, o) {
					d.late[needed.Key], grows = true, true
				}
			}
		}
	}
}

// droppableEarly reports whether a dropped object is a part of the object that needs it, so that it
// can be dropped first.
func droppableEarly(needed, by Object) bool { return needed.Parent == by.Key }

// mustCreateAgain reports whether Postgres has no statement that turns was into is.
func mustCreateAgain(was, is Object) bool {
	switch is.Kind {
	case "function":
		hadDefaults := strings.HasPrefix(was.Details[2], "true")
		return was.Details[0] != is.Details[0] || was.Details[1] != is.Details[1] || hadDefaults &&
			was.Details[2] != is.Details[2]
	case "view":
		plain := strings.HasPrefix(was.Create, "create view ") && strings.HasPrefix(is.Create, "create view ")
		return !plain || was.Details[0] != is.Details[0] && !strings.HasPrefix(is.Details[0], was.Details[0]+", ")
	case "publication":
		return was.Details[0] != is.Details[0]
	case "default", "default privileges":
		return false
	}
	return !is.attached() && droppable(is.Kind)
}

func ident(name string) string { return pgx.Identifier{name}.Sanitize() }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
