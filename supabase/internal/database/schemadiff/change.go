package schemadiff

import (
	"fmt"
	"slices"
	"strings"
)

func (d *differ) add(format string, args ...any) { d.out = append(d.out, fmt.Sprintf(format, args...)) }

// change adds the statements for an object that differs.
func (d *differ) change(was, is Object) {
	switch is.Kind {
	case "table":
		d.table(was, is)
	case "type":
		d.enum(was, is)
	case "view":
		d.add("%s", strings.Replace(is.Create, "create view ", "create or replace view ", 1))
	case "grants":
		d.add("%s%s", was.revokeOthers(), is.Create)
	case "column grants", "default privileges":
		d.add("%s\n%s", was.Drop, is.Create)
	case "row level security":
		if strings.Contains(was.Create, " force ") && !strings.Contains(is.Create, " force ") {
			d.add("alter table %s no force row level security;", strings.TrimPrefix(is.Key, "row level security "))
		}
		d.add("%s", is.Create)
	case "sequence":
		text := strings.Replace(is.Create, "create sequence ", "alter sequence ", 1)
		if !strings.HasSuffix(text, " cycle;") {
			text = strings.TrimSuffix(text, ";") + " no cycle;"
		}
		d.add("%s", text)
	case "composite type":
		d.composite(was, is)
	case "domain":
		d.domain(was, is)
	case "publication":
		_, options, _ := strings.Cut(is.Create, " with ")
		d.add("alter %s set %s", strings.TrimSuffix(strings.TrimPrefix(is.Drop, "drop "), ";"), options)
	case "extension":
		d.add("alter %s set schema %s;", strings.TrimSuffix(strings.TrimPrefix(is.Drop, "drop "), ";"), is.Details[0])
	case "text search configuration":
		d.configuration(was, is)
	case "range type", "schema", "collation", "text search dictionary":
		d.uncovered(is)
	default:
		d.add("%s", is.Create)
	}
}

func (d *differ) uncovered(is Object) {
	d.add("-- %s differs: change it by hand to\n-- %s", is.Key, strings.ReplaceAll(is.Create, "\n", "\n-- "))
}

// configuration adds the statements that change which dictionaries a text search configuration asks
// for a kind of token.
func (d *differ) configuration(was, is Object) {
	old, now := strings.Split(was.Create, "\n"), strings.Split(is.Create, "\n")
	if old[0] != now[0] {
		d.uncovered(is)
		return
	}
	for _, mapping := range old {
		if !slices.Contains(now, mapping) {
			token, _, _ := strings.Cut(mapping, " with ")
			d.add("%s;", strings.Replace(token, " add mapping for ", " drop mapping for ", 1))
		}
	}
	for _, mapping := range now {
		if !slices.Contains(old, mapping) {
			d.add("%s", mapping)
		}
	}
}

// needsNewEnum reports whether an enum cannot be changed by adding labels: a label was removed or
// moved, or a new one is used in the same transaction, which Postgres refuses.
func (d *differ) needsNewEnum(was, is Object) bool {
	kept := slices.DeleteFunc(slices.Clone(is.Details),
		func(label string) bool { return !slices.Contains(was.Details, label) })
	if !slices.Equal(kept, was.Details) {
		return true
	}
	for _, label := range is.Details {
		if slices.Contains(was.Details, label) {
			continue
		}
		for _, o := range d.new {
			old, existed := d.before[o.Key]
			if o.Key != is.Key && (!existed || !same(old, o)) && strings.Contains(o.Create, literal(label)) {
				return true
			}
		}
	}
	return false
}

// enum adds the new labels of an enum, or replaces it.
func (d *differ) enum(was, is Object) {
	name := strings.TrimPrefix(is.Key, "type ")
	if d.rebuilt[is.Key] {
		d.rebuildEnum(name, is)
		return
	}
	for i, label := range is.Details {
		switch {
		case slices.Contains(was.Details, label):
		case i == 0:
			d.add("alter type %s add value %s before %s;", name, literal(label), literal(was.Details[0]))
		default:
			d.add("alter type %s add value %s after %s;", name, literal(label), literal(is.Details[i-1]))
		}
	}
}

// rebuildEnum creates the enum under its name, and changes the columns from the old type, which
// ends last. A row with a removed label makes the statements fail.
func (d *differ) rebuildEnum(name string, is Object) {
	words := strings.TrimSuffix(strings.TrimPrefix(is.Drop, "drop type "), ";")
	schema, plain, _ := cutName(words)
	old := ident(strings.Trim(plain, `"`) + "_old")
	d.add("alter type %s rename to %s;\n%s", words, old, is.Create)
	d.last = append(d.last, fmt.Sprintf("drop type %s.%s;", schema, old))
	for _, t := range d.old {
		now, stays := d.after[t.Key]
		if t.Kind != "table" || !stays {
			continue
		}
		for i, c := range t.Columns {
			after, stays := column(now, c.Name)
			if !stays || c.Type != name && c.Type != name+"[]" {
				continue
			}
			alter := alterTable(t) + " alter column " + ident(c.Name)
			if c.Default != "" && !c.Separate {
				d.add("%s drop default;", alter)
			}
			d.add("%s type %s using %s::text%s::%s;", alter, c.Type, ident(c.Name), strings.TrimPrefix(c.Type, name),
				c.Type)
			if after.Default != "" && !after.Separate && after.Type == c.Type {
				d.add("%s set default %s;", alter, after.Default)
				t.Columns[i].Default = after.Default
			}
		}
	}
}

// composite adds the statements that change the attributes of a composite type.
func (d *differ) composite(was, is Object) {
	name := strings.TrimPrefix(is.Key, "composite ")
	old, wanted := attributes(was.Details), attributes(is.Details)
	for _, a := range was.Details {
		if n, _ := cutAttribute(a); wanted[n] == "" {
			d.add("alter %s drop attribute %s;", name, n)
		}
	}
	for _, a := range is.Details {
		n, kind := cutAttribute(a)
		switch old[n] {
		case "":
			d.add("alter %s add attribute %s;", name, a)
		case kind:
		default:
			d.add("alter %s alter attribute %s type %s;", name, n, kind)
		}
	}
}

func attributes(list []string) map[string]string {
	m := map[string]string{}
	for _, a := range list {
		name, kind := cutAttribute(a)
		m[name] = kind
	}
	return m
}

// cutAttribute splits an attribute or a constraint into its name, which may have quotes, and the
// rest.
func cutAttribute(text string) (name, rest string) {
	end := nameEnd(text)
	return text[:end], strings.TrimPrefix(text[end:], " ")
}

// cutName splits a qualified name.
func cutName(text string) (schema, name string, ok bool) {
	end := nameEnd(text)
	if end == len(text) {
		return "", text, false
	}
	return text[:end], text[end+1:], true
}

// nameEnd returns the length of the name, with its quotes, at the start of text.
func nameEnd(text string) int {
	quoted := false
	for i, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case !quoted && (r == ' ' || r == '.'):
			return i
		}
	}
	return len(text)
}

// domain adds the statements that change a domain. Its base type cannot change.
func (d *differ) domain(was, is Object) {
	if was.Details[0] != is.Details[0] {
		d.uncovered(is)
		return
	}
	alter := "alter " + is.Key
	switch {
	case was.Details[1] == is.Details[1]:
	case is.Details[1] == "":
		d.add("%s drop default;", alter)
	default:
		d.add("%s set default %s;", alter, is.Details[1])
	}
	switch {
	case was.Details[2] == is.Details[2]:
	case is.Details[2] == "":
		d.add("%s drop not null;", alter)
	default:
		d.add("%s set not null;", alter)
	}
	for _, c := range was.Details[3:] {
		if name, _ := cutAttribute(c); !slices.Contains(is.Details[3:], c) {
			d.add("%s drop constraint %s;", alter, name)
		}
	}
	for _, c := range is.Details[3:] {
		if !slices.Contains(was.Details[3:], c) {
			d.add("%s add constraint %s;", alter, c)
		}
	}
}
