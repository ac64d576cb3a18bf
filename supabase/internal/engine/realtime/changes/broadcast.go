package changes

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// broadcast keeps a new row of realtime.messages until the commit. Rows that upstream cannot send
// are left out.
func (c *connection) broadcast(rel *pgoutput.Relation, row pgoutput.Tuple) {
	s := c.s
	if s.onBroadcast == nil || len(row) != len(rel.Columns) {
		return
	}
	set := map[string]string{}
	for i, column := range rel.Columns {
		if row[i].Kind == pgoutput.Text {
			set[column.Name] = row[i].Text
		}
	}
	if set["skip_broadcast"] == "t" { // its sender has delivered it
		return
	}
	b := Broadcast{ID: set["id"], Topic: set["topic"], Event: set["event"], Extension: set["extension"],
		Private: set["private"] == "t", XID: c.begin.XID}
	for _, name := range []string{"id", "topic", "event", "private"} {
		if _, ok := set[name]; !ok {
			s.o.Log.Warn("a row of realtime.messages was not sent: a column is null", "column", name, "id", b.ID)
			return
		}
	}
	bytes, isBinary := set["binary_payload"]
	payload, isJSON := set["payload"]
	switch {
	case isBinary:
		var err error
		if b.Binary, err = hex.DecodeString(strings.TrimPrefix(bytes, `\x`)); err != nil {
			s.o.Log.Error("a row of realtime.messages was not sent: its bytes are not hexadecimal", "id", b.ID)
			return
		}
	case isJSON:
		b.Payload = json.RawMessage(payload)
	default:
		s.o.Log.Warn("a row of realtime.messages was not sent: it has no payload", "id", b.ID)
		return
	}
	c.broadcasts = append(c.broadcasts, b)
}
