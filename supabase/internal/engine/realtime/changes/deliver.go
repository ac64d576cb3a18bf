package changes

import (
	"encoding/json"
	"slices"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// view is what classes with the same role and columns see of a change.
type view struct{ role, selectKey string }

// deliver calls the subscribers, change by change.
func (b *batch) deliver() {
	for _, c := range b.checks {
		t := b.tables[c.relation.ID]
		if t == nil {
			continue
		}
		byView := map[view][]listener{}
		var order []view
		refusals := map[string]string{}
		for i, l := range c.listeners {
			refusal, known := refusals[l.role]
			if !known {
				refusal = b.refusal(c, t, l.role)
				refusals[l.role] = refusal
			}
			if refusal == "" && !b.mayGet(c, t, i) {
				continue
			}
			at := view{l.role, l.selectKey}
			if byView[at] == nil {
				order = append(order, at)
			}
			byView[at] = append(byView[at], l)
		}
		for _, at := range order {
			data := b.data(c, t, byView[at][0].class, refusals[at.role])
			b.send(c, byView[at], data)
		}
	}
}

// mayGet reports whether the members of a class may get a change.
func (b *batch) mayGet(c *check, t *table, i int) bool {
	l := c.listeners[i]
	return c.verdicts[i] == yes && (!t.secured || c.kind == kindDelete || b.visible[sight{l.viewer, c}])
}

// send delivers one message per subscriber, with the bindings of all its classes.
func (b *batch) send(c *check, listeners []listener, data json.RawMessage) {
	ids := map[*subscriber][]int64{}
	single := len(listeners) == 1
	var order []*subscriber
	for _, l := range listeners {
		for i, m := range l.members {
			switch {
			case m.sub.closed.Load():
			case m.sub.epoch.Load() != l.epochs[i]:
				if b.again == nil {
					b.again = map[*subscriber]int{}
				}
				if _, ok := b.again[m.sub]; !ok {
					b.again[m.sub] = c.index
				}
			case single:
				m.sub.deliver(Change{IDs: m.ids, Type: c.kind, Data: data})
			default:
				if ids[m.sub] == nil {
					order = append(order, m.sub)
				}
				ids[m.sub] = append(slices.Clip(ids[m.sub]), m.ids...)
			}
		}
	}
	for _, sub := range order {
		sub.deliver(Change{IDs: ids[sub], Type: c.kind, Data: data})
	}
}

// data returns the JSON of a change for a class.
func (b *batch) data(c *check, t *table, of *class, refusal string) json.RawMessage {
	out := make([]byte, 0, 256+2*c.size)
	out = append(out, `{"schema":`...)
	out = appendString(out, c.relation.Schema)
	out = append(out, `,"table":`...)
	out = appendString(out, c.relation.Table)
	out = append(out, `,"type":"`+c.kind+`"`...)
	large := refusal == "" && c.logSize() > b.s.o.MaxRecordBytes
	if large {
		refusal = "Error 413: Payload Too Large"
	}
	if refusal == "" || large {
		out = append(out, `,"commit_timestamp":"`+formatTime(c.committed)+`","errors":`...)
	} else {
		out = append(out, `,"commit_timestamp":null,"errors":`...)
	}
	if refusal == "" {
		out = append(out, "null"...)
	} else {
		out = append(appendString(append(out, '['), refusal), ']')
	}
	empty := refusal != "" && !large
	out = append(out, `,"columns":`...)
	out = b.appendColumns(out, t, of, empty)
	if c.kind != kindDelete {
		out = append(out, `,"record":`...)
		out = b.appendRow(out, c, t, of, c.record, nil, empty, large)
	}
	if c.kind != kindInsert {
		out = append(out, `,"old_record":`...)
		out = b.appendRow(out, c, t, of, c.identity, c.known, empty, large)
	}
	return append(out, '}')
}

// logSize returns about how many bytes wal2json would need for the change. Upstream's limit counts
// them.
func (c *check) logSize() int {
	size := c.size + 300
	for _, column := range c.relation.Columns {
		size += 70 + len(column.Name)
	}
	return size
}

// shows reports whether a class sees a column.
func (t *table) shows(i int, of *class) bool {
	column := t.columns[i]
	return t.readable[of.role][i] && (of.selected == nil || column.key || slices.Contains(of.selected, column.name))
}

func (b *batch) appendColumns(out []byte, t *table, of *class, empty bool) []byte {
	out = append(out, '[')
	separator := ""
	for i, column := range t.columns {
		if empty || !t.shows(i, of) {
			continue
		}
		out = append(out, separator...)
		out = append(out, `{"name":`...)
		out = appendString(out, column.name)
		out = append(out, `,"type":`...)
		out = append(appendString(out, column.shownType), '}')
		separator = ","
	}
	return append(out, ']')
}

// maxShort is the length of the values that a too large change still has, in bytes of JSON.
const maxShort = 64

// appendRow appends the values of a row that a class sees. known has the columns that the row has;
// nil means all.
func (b *batch) appendRow(out []byte, c *check, t *table, of *class, row pgoutput.Tuple, known []bool, empty,
	large bool) []byte {
	out = append(out, '{')
	separator := ""
	for i, v := range row {
		column := c.relation.Columns[i]
		at := slices.IndexFunc(t.columns, func(tc tableColumn) bool { return tc.name == column.Name })
		switch {
		case empty, v.Kind == pgoutput.Unchanged, known != nil && !known[i], at < 0, !t.shows(at, of):
			continue
		case c.kind == kindDelete && t.secured && !t.columns[at].key:
			continue // policies cannot be applied to a row that is gone
		case large && v.Kind == pgoutput.Null:
			continue
		}
		start := len(out)
		out = append(out, separator...)
		out = append(appendString(out, column.Name), ':')
		valueStart := len(out)
		out = b.appendJSON(out, column.Type, v)
		if large && len(out)-valueStart > maxShort {
			out = out[:start]
			continue
		}
		separator = ","
	}
	return append(out, '}')
}

func (b *batch) appendJSON(out []byte, oid uint32, v pgoutput.Value) []byte {
	if v.Kind == pgoutput.Null {
		return append(out, "null"...)
	}
	if b.types[oid].enum {
		return appendString(out, v.Text)
	}
	if out, ok := appendValue(out, oid, v.Text); ok {
		return out
	}
	return append(out, b.json[conversion{oid, v.Text}]...)
}
