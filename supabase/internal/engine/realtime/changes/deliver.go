package changes

import (
	"encoding/json"
	"slices"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// payloadKey identifies the listeners that get the same JSON of a change.
type payloadKey struct {
	role, selectKey string
	old             bool // they get the whole old row, not only its key
}

// deliver calls the subscribers, change by change.
func (b *batch) deliver() {
	for n, c := range b.matched {
		t := b.tables[c.relation.ID]
		if t == nil {
			continue
		}
		byPayload := map[payloadKey][]listener{}
		var order []payloadKey
		errs := map[string]string{}
		diverted := map[pair][]listener{}
		for i, l := range c.listeners {
			if b.hides(t, l.role) {
				continue
			}
			if p, ok := b.diversion(c, &l); ok {
				if b.verdict(c, &l) != excluded {
					diverted[p] = append(diverted[p], l)
				}
				continue
			}
			message, known := errs[l.role]
			if !known {
				message = b.changeError(c, t, l.role)
				errs[l.role] = message
			}
			if message == "" && !b.mayReceive(c, t, i) {
				continue
			}
			key := payloadKey{l.role, l.selectKey, b.showsOld(c, t, &l)}
			if byPayload[key] == nil {
				order = append(order, key)
			}
			byPayload[key] = append(byPayload[key], l)
		}
		final := finalMessages(order, byPayload)
		for i, key := range order {
			data := b.payload(c, t, byPayload[key][0].bindingGroup, errs[key.role], key.old)
			b.send(c, byPayload[key], data, func(sub *subscriber) uint64 {
				return b.confirms(n, final[sub] > i || b.lane != nil && i < len(order)-1)
			})
		}
		if len(order) > 0 && b.replay == nil {
			b.s.metrics.delivered(c.committed, b.s.o.Now())
		}
		for p, listeners := range diverted {
			b.divert(c, p, listeners)
		}
	}
}

// finalMessages returns which message about a change is the last one for a subscriber that may get
// several, because its bindings select other columns.
func finalMessages(order []payloadKey, byPayload map[payloadKey][]listener) map[*subscriber]int {
	if len(order) < 2 {
		return nil
	}
	final, roles := map[*subscriber]int{}, map[string]int{}
	for _, key := range order {
		roles[key.role]++
	}
	for i, key := range order {
		if roles[key.role] == 1 {
			continue
		}
		for _, l := range byPayload[key] {
			for _, m := range l.members {
				final[m.sub] = i
			}
		}
	}
	return final
}

// confirms returns the limit of subscriber.confirm for a message about a change. more means that
// another message about the change follows.
func (b *batch) confirms(n int, more bool) uint64 {
	c := b.matched[n]
	switch {
	case b.lane != nil && !more:
		b.s.lanes.mu.Lock()
		b.lane.advance(b.matched[n+1:])
		b.s.lanes.mu.Unlock()
		fallthrough
	case b.lane != nil:
		return b.s.passed.Load()
	case c.last && !more:
		return c.position
	}
	return c.position - 1
}

// diversion returns the pair of a listener whose changes a lane checks, or are lost.
func (b *batch) diversion(c *matchedChange, l *listener) (p pair, ok bool) {
	if len(b.diverted) == 0 {
		return p, false
	}
	for _, p := range c.pairs(l) {
		if _, ok := b.diverted[p]; ok {
			return p, true
		}
	}
	return p, false
}

// mayReceive reports whether the filters and policies let the listener i of a change receive it.
func (b *batch) mayReceive(c *matchedChange, t *table, i int) bool {
	l := c.listeners[i]
	if c.results[i] != accepts || !b.mustCheck(c, t, l.role) {
		return c.results[i] == accepts
	}
	if c.kind == kindDelete {
		return b.verdict(c, &l)&seesOld != 0
	}
	return b.verdict(c, &l)&seesRow != 0
}

// verdict returns what the policies let a listener know about a change.
func (b *batch) verdict(c *matchedChange, l *listener) verdict {
	if class := b.classes[c.pair(l)]; class != nil {
		return class.verdicts[c]
	}
	return 0
}

// showsOld reports whether a listener gets the whole old row, as far as it is known.
func (b *batch) showsOld(c *matchedChange, t *table, l *listener) bool {
	switch {
	case c.kind == kindDelete: // upstream shows the key alone
		return !t.secured
	case b.s.o.Lenient, !t.filtered[l.role]:
		return true
	}
	return b.verdict(c, l)&seesOld != 0
}

// send delivers one message per subscriber, with all its bindings that match. limit returns that of
// subscriber.confirm.
func (b *batch) send(c *matchedChange, listeners []listener, data json.RawMessage, limit func(*subscriber) uint64) {
	hand := (*subscriber).hand
	if b.replay != nil {
		hand = (*subscriber).handOld
	}
	ids := map[*subscriber][]int64{}
	single := len(listeners) == 1
	var order []*subscriber
	for _, l := range listeners {
		for i, m := range l.members {
			_, later := b.recheck[m.sub]
			switch {
			case m.sub.closed.Load(), later:
			case m.sub.epoch.Load() != l.epochs[i] && b.lane != nil:
				m.sub.lose(c.position, reasonClaims)
			case m.sub.epoch.Load() != l.epochs[i]:
				if b.recheck == nil {
					b.recheck = map[*subscriber]int{}
				}
				b.recheck[m.sub] = c.index
			case single:
				hand(m.sub, Change{IDs: m.ids, Type: c.kind, Position: c.position, Data: data}, limit(m.sub))
			default:
				if ids[m.sub] == nil {
					order = append(order, m.sub)
				}
				ids[m.sub] = append(slices.Clip(ids[m.sub]), m.ids...)
			}
		}
	}
	for _, sub := range order {
		hand(sub, Change{IDs: ids[sub], Type: c.kind, Position: c.position, Data: data}, limit(sub))
	}
}

// payload returns the JSON of a change for a binding group. A message replaces the rows by an
// error. old has all that is known of the old row; otherwise its key.
func (b *batch) payload(c *matchedChange, t *table, group *bindingGroup, message string, old bool) json.RawMessage {
	out := make([]byte, 0, 256+2*c.size)
	out = append(out, `{"schema":`...)
	out = appendString(out, c.relation.Schema)
	out = append(out, `,"table":`...)
	out = appendString(out, c.relation.Table)
	out = append(out, `,"type":"`+c.kind+`"`...)
	large := message == "" && c.logSize() > b.s.o.MaxRecordBytes
	if large {
		message = "Error 413: Payload Too Large"
	}
	if message == "" || large {
		out = append(out, `,"commit_timestamp":"`+formatTime(c.committed)+`","errors":`...)
	} else {
		out = append(out, `,"commit_timestamp":null,"errors":`...)
	}
	if message == "" {
		out = append(out, "null"...)
	} else {
		out = append(appendString(append(out, '['), message), ']')
	}
	empty := message != "" && !large
	out = append(out, `,"columns":`...)
	out = appendColumns(out, c.relation, t, group, empty)
	if c.kind != kindDelete {
		out = append(out, `,"record":`...)
		out = b.appendRow(out, c, t, group, c.record, nil, empty, large)
	}
	if c.kind != kindInsert {
		out = append(out, `,"old_record":`...)
		known := c.known
		if !old {
			known = t.keyOnly(c.relation, known)
		}
		out = b.appendRow(out, c, t, group, c.identity, known, empty, large)
	}
	return append(out, '}')
}

// logSize returns about how many bytes wal2json would need for the change. Upstream's limit counts
// them.
func (c *matchedChange) logSize() int {
	size := c.size + 300
	for _, column := range c.relation.Columns {
		size += 70 + len(column.Name)
	}
	return size
}

// showsColumn reports whether the payload of a binding group has a column.
func (t *table) showsColumn(i int, group *bindingGroup) bool {
	column := t.columns[i]
	return t.readable[group.role][i] &&
		(group.selected == nil || column.key || slices.Contains(group.selected, column.name))
}

// hasList reports whether the publication has a list of columns: the relation lacks a column that
// is not generated.
func (t *table) hasList(relation *pgoutput.Relation) bool {
	return slices.ContainsFunc(t.columns, func(c tableColumn) bool { return !c.computed && !hasColumn(relation, c.name) })
}

func hasColumn(relation *pgoutput.Relation, name string) bool {
	return slices.ContainsFunc(relation.Columns, func(c pgoutput.Column) bool { return c.Name == name })
}

// appendColumns appends the names and types of the columns that a binding group sees and the
// publication has.
func appendColumns(out []byte, relation *pgoutput.Relation, t *table, group *bindingGroup, empty bool) []byte {
	out = append(out, '[')
	separator := ""
	listed := t.hasList(relation)
	for i, column := range t.columns {
		if empty || !t.showsColumn(i, group) || listed && !hasColumn(relation, column.name) {
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

// appendRow appends the values of a row that a binding group sees. known has the columns that the
// row has; nil means all.
func (b *batch) appendRow(out []byte, c *matchedChange, t *table, group *bindingGroup, row pgoutput.Tuple, known []bool,
	empty, large bool) []byte {
	out = append(out, '{')
	separator := ""
	for i, v := range row {
		column := c.relation.Columns[i]
		at := slices.IndexFunc(t.columns, func(tc tableColumn) bool { return tc.name == column.Name })
		switch {
		case empty, v.Kind == pgoutput.Unchanged, known != nil && !known[i], at < 0, !t.showsColumn(at, group):
			continue
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

// keyOnly returns known without the columns that are not in the primary key.
func (t *table) keyOnly(relation *pgoutput.Relation, known []bool) []bool {
	keys := slices.Clone(known)
	for i, column := range relation.Columns {
		keys[i] = keys[i] && slices.ContainsFunc(t.columns,
			func(c tableColumn) bool { return c.key && c.name == column.Name })
	}
	return keys
}

func (b *batch) appendJSON(out []byte, oid uint32, v pgoutput.Value) []byte {
	if v.Kind == pgoutput.Null {
		return append(out, "null"...)
	}
	if b.types[oid].enum {
		return appendString(out, v.Text)
	}
	if out, ok := appendValue(out, b.types[oid].base, v.Text); ok {
		return out
	}
	return append(out, b.jsonValues[conversion{oid, v.Text}]...)
}
