package schemadiff

import (
	"slices"
	"strings"
)

// tail returns what follows the columns of a table: partitioning, inheritance and storage options.
func tail(create string) string { return create[strings.LastIndex(create, "\n")+1:] }

// alterTable begins a statement that changes a table. The columns of partitions and of tables that
// inherit change with their table's columns.
func alterTable(t Object) string { return "alter table " + strings.TrimPrefix(t.Key, "table ") }

func (o Object) unlogged() bool { return strings.HasPrefix(o.Create, "create unlogged ") }

func column(t Object, name string) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}

func (c Column) identity() bool { return strings.HasSuffix(c.Generated, "as identity") }

// computed reports whether the column has an expression instead of values.
func (c Column) computed() bool { return c.Generated != "" && !c.identity() }

// changedColumns returns the columns of was that are dropped (false), or get another type or
// expression (true).
func changedColumns(was, is Object) map[string]bool {
	changed := map[string]bool{}
	for _, c := range was.Columns {
		now, stays := column(is, c.Name)
		if !stays || c.Type != now.Type || createdAgain(c, now) {
			changed[c.Name] = stays
		}
	}
	for _, c := range was.Columns {
		now, stays := column(is, c.Name)
		if !stays || !now.computed() {
			continue
		}
		for name := range changed {
			if strings.Contains(c.Generated, ident(name)) || strings.Contains(c.Generated, name) {
				changed[c.Name] = true
				break
			}
		}
	}
	return changed
}

// createdAgain reports whether a column must be dropped and added, because its expression is
// another one.
func createdAgain(was, is Column) bool { return is.computed() && was.Generated != is.Generated }

// table adds the statements that change the columns of a table.
func (d *differ) table(was, is Object) {
	alter := alterTable(is)
	d.options(was, is)
	if was.unlogged() != is.unlogged() {
		d.add("alter table %s set %s;", strings.TrimPrefix(is.Key, "table "),
			map[bool]string{true: "unlogged", false: "logged"}[is.unlogged()])
	}
	d.attach(was, is)
	changed := changedColumns(was, is)
	again := map[string]bool{} // expressions end before the columns that they read
	for _, c := range was.Columns {
		now, _ := column(is, c.Name)
		if stays, affected := changed[c.Name]; affected && stays && now.computed() {
			d.add("%s drop column %s;", alter, ident(c.Name))
			again[c.Name] = true
		}
	}
	for _, c := range was.Columns {
		if _, ok := column(is, c.Name); !ok {
			d.add("%s drop column %s;", alter, ident(c.Name))
		}
	}
	for _, c := range is.Columns {
		if old, ok := column(was, c.Name); ok && !again[c.Name] {
			d.column(alter, old, c)
		}
	}
	for _, c := range is.Columns {
		if _, ok := column(was, c.Name); !ok || again[c.Name] {
			d.add("%s add column %s;", alter, c.definition())
		}
	}
}

// unlimited returns a type without its length and collation. A cast to it shortens no value: one
// that is too long for the column's type is an error.
func unlimited(kind string) string {
	kind, _, _ = strings.Cut(kind, " collate ")
	name, rest, limited := strings.Cut(kind, "(")
	if strings.Contains(name, `"`) || !limited {
		return kind
	}
	_, rest, _ = strings.Cut(rest, ")")
	switch name {
	case "character":
		name = "bpchar"
	case "bit":
		name = "bit varying"
	}
	return name + rest
}

func (d *differ) column(alter string, was, is Column) {
	alter += " alter column " + ident(is.Name)
	if is.NotNull && !was.NotNull {
		d.add("%s set not null;", alter)
	}
	if was.Default != "" && !was.Separate && (was.Type != is.Type || is.identity()) {
		d.add("%s drop default;", alter)
		was.Default = ""
	}
	if was.Type != is.Type {
		d.add("%s type %s using %s::%s;", alter, is.Type, ident(is.Name), unlimited(is.Type))
	}
	d.generated(alter, was, is)
	switch {
	case was.Default == is.Default || is.Separate:
	case is.Default != "":
		d.add("%s set default %s;", alter, is.Default)
	case !was.Separate: // a separate default is dropped as an object
		d.add("%s drop default;", alter)
	}
	if was.NotNull && !is.NotNull {
		d.add("%s drop not null;", alter)
	}
}

// generated adds the statements that make a column an identity column or end its generation.
func (d *differ) generated(alter string, was, is Column) {
	switch {
	case was.identity() && is.identity():
		var set []string
		if was.Generated != is.Generated {
			set = append(set, "set generated "+strings.TrimSuffix(is.Generated, " as identity"))
		}
		if was.Sequence != is.Sequence && was.Type == is.Type {
			set = append(set, "set "+strings.ReplaceAll(is.Sequence, "|", " set "))
		}
		if len(set) > 0 {
			d.add("%s %s;", alter, strings.Join(set, " "))
		}
	case is.identity():
		options := ""
		if !is.Usual {
			options = " (" + strings.ReplaceAll(is.Sequence, "|", " ") + ")"
		}
		d.add("%s add generated %s%s;", alter, is.Generated, options)
	case was.identity(): // dropIdentities has ended it
	case was.Generated != is.Generated:
		d.add("%s drop expression;", alter)
	}
}
