package ddl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Diff returns the statements that turn a database with the objects old into one with the objects new. Both are in the order of
// Read. A statement that begins with -- names a change that it does not cover.
func Diff(old, new []Object) []string {
	d := differ{before: byKey(old), after: byKey(new), gone: map[id]bool{}, made: map[id]bool{}}
	for _, o := range old {
		if _, stays := d.after[o.Key]; !stays && !o.attached() {
			d.gone[o.id()] = true
		}
	}
	for _, o := range slices.Backward(old) {
		_, stays := d.after[o.Key]
		if !stays && o.Drop != "" && !d.endsWithTable(o) && !(o.attached() && d.gone[o.id()]) {
			d.out = append(d.out, o.Drop)
		}
	}
	for _, o := range new {
		was, existed := d.before[o.Key]
		switch {
		case !existed:
			d.out = append(d.out, o.Create)
		case !same(was, o):
			d.change(was, o)
		case o.attached() && d.made[o.id()] || o.subject != 0 && d.made[id{relations, o.subject}]:
			d.out = append(d.out, o.Create) // it ended when its object was dropped
		}
	}
	return d.out
}

// id identifies an object in a catalogue.
type id struct{ class, oid uint32 }

// relations is the oid of pg_class.
const relations = 1259

func (o Object) id() id { return id{o.class, o.oid} }

// attached reports whether an object is a property of another one with the same id.
func (o Object) attached() bool {
	return slices.Contains([]string{"comment", "grants", "column grants", "sequence owner", "row level security"}, o.Kind)
}

type differ struct {
	before, after map[string]Object
	gone, made    map[id]bool // dropped, and dropped and created again
	out           []string
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
	return slices.Equal(a.Columns, b.Columns) && tail(a.Create) == tail(b.Create)
}

// tail returns what follows the columns of a table: partitioning, inheritance and storage options.
func tail(create string) string { return create[strings.LastIndex(create, "\n")+1:] }

// endsWithTable reports whether dropping the table of o is enough. Objects that may need a function are dropped before, because
// the function can be dropped before the table.
func (d *differ) endsWithTable(o Object) bool {
	if o.Parent == "" || !o.attached() && o.Kind != "constraint" && o.Kind != "published table" {
		return false
	}
	_, was := d.before[o.Parent]
	_, stays := d.after[o.Parent]
	return was && !stays
}

func (d *differ) add(format string, args ...any) { d.out = append(d.out, fmt.Sprintf(format, args...)) }

// change adds the statements for an object that differs.
func (d *differ) change(was, is Object) {
	switch is.Kind {
	case "table":
		d.table(was, is)
	case "type":
		d.enum(was, is)
	case "function":
		if was.Result != is.Result {
			d.add("%s", was.Drop)
			d.made[is.id()] = true
		}
		d.add("%s", is.Create) // create or replace
	case "view":
		if strings.HasPrefix(is.Create, "create view ") && strings.HasPrefix(is.Result, was.Result) {
			d.add("%s", strings.Replace(is.Create, "create view ", "create or replace view ", 1))
			return
		}
		d.replace(was, is)
	case "comment", "grants", "column grants", "sequence owner", "row level security", "default":
		d.add("%s", is.Create)
	case "sequence":
		d.add("%s", strings.Replace(is.Create, "create sequence ", "alter sequence ", 1))
	case "composite type", "domain", "range type", "publication", "extension", "schema":
		d.add("-- %s differs: change it by hand to\n-- %s", is.Key, strings.ReplaceAll(is.Create, "\n", "\n-- "))
	default:
		d.replace(was, is)
	}
}

// replace drops an object and creates it again.
func (d *differ) replace(was, is Object) {
	d.add("%s\n%s", was.Drop, is.Create)
	d.made[is.id()] = true
}

// enum adds the new labels of an enum.
func (d *differ) enum(was, is Object) {
	name := strings.TrimPrefix(is.Key, "type ")
	for _, label := range was.Labels {
		if !slices.Contains(is.Labels, label) {
			d.add("-- type %s: Postgres cannot remove the label %s; create a new type and change its columns", name, literal(label))
		}
	}
	for i, label := range is.Labels {
		if slices.Contains(was.Labels, label) {
			continue
		}
		if i == 0 {
			d.add("alter type %s add value %s before %s;", name, literal(label), literal(is.Labels[min(1, len(is.Labels)-1)]))
			continue
		}
		d.add("alter type %s add value %s after %s;", name, literal(label), literal(is.Labels[i-1]))
	}
}

// table adds the statements that change the columns of a table.
func (d *differ) table(was, is Object) {
	alter := "alter table only " + strings.TrimPrefix(is.Key, "table ")
	if tail(was.Create) != tail(is.Create) {
		d.add("-- %s: its partitioning, inheritance or storage options differ; change them by hand", is.Key)
	}
	find := func(list []Column, name string) (Column, bool) {
		i := slices.IndexFunc(list, func(c Column) bool { return c.Name == name })
		if i < 0 {
			return Column{}, false
		}
		return list[i], true
	}
	for _, c := range was.Columns {
		if _, ok := find(is.Columns, c.Name); !ok {
			d.add("%s drop column %s;", alter, ident(c.Name))
		}
	}
	for _, c := range is.Columns {
		old, ok := find(was.Columns, c.Name)
		if !ok {
			d.add("%s add column %s;", alter, c.definition())
			continue
		}
		d.column(alter, old, c)
	}
}

func (d *differ) column(alter string, was, is Column) {
	name := ident(is.Name)
	if was.Generated != is.Generated {
		switch {
		case strings.HasSuffix(is.Generated, "as identity") && was.Generated == "":
			d.add("%s alter column %s add generated %s;", alter, name, is.Generated)
		case strings.HasSuffix(was.Generated, "as identity") && is.Generated == "":
			d.add("%s alter column %s drop identity;", alter, name)
		case strings.HasSuffix(was.Generated, "as identity") && strings.HasSuffix(is.Generated, "as identity"):
			d.add("%s alter column %s set generated %s;", alter, name, strings.TrimSuffix(is.Generated, " as identity"))
		case is.Generated == "":
			d.add("%s alter column %s drop expression;", alter, name)
		default:
			d.add("%s drop column %s;\n%s add column %s;", alter, name, alter, is.definition())
			return
		}
	}
	if was.Type != is.Type {
		if was.Default != "" {
			d.add("%s alter column %s drop default;", alter, name)
			was.Default = ""
		}
		d.add("%s alter column %s type %s using %s::%s;", alter, name, is.Type, name, is.Type)
	}
	if was.Default != is.Default && !is.Separate {
		if is.Default == "" {
			d.add("%s alter column %s drop default;", alter, name)
		} else {
			d.add("%s alter column %s set default %s;", alter, name, is.Default)
		}
	}
	switch {
	case is.NotNull && !was.NotNull:
		d.add("%s alter column %s set not null;", alter, name)
	case was.NotNull && !is.NotNull:
		d.add("%s alter column %s drop not null;", alter, name)
	}
}

func ident(name string) string { return pgx.Identifier{name}.Sanitize() }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
