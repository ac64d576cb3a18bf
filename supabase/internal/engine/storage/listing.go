package storage

import (
	"bytes"
	"sync"
	"time"

	"daawo/supabase/internal/engine/storage/objects"
)

// A page has up to 1,000 entries of a few hundred bytes. The functions of this file append their
// JSON to one buffer. encoding/json took a third of the server's time of a list, because it checks
// and copies each metadata document twice.

// maxListBuffer is the size in bytes of the largest buffer that is kept for the next list.
const maxListBuffer = 1 << 20

var listBuffers = sync.Pool{New: func() any { return new([]byte) }}

// sendList writes the reply that fill appends to an empty buffer.
func (c *call) sendList(fill func([]byte) []byte) {
	buffer := listBuffers.Get().(*[]byte)
	data := fill((*buffer)[:0])
	c.sendJSON(data)
	if cap(data) <= maxListBuffer {
		*buffer = data
		listBuffers.Put(buffer)
	}
}

// appendEntries appends the entries of a listing as a JSON array. Only list-v2 sets the key.
func appendEntries(b []byte, list []objects.Entry) []byte {
	b = append(b, '[')
	for i := range list {
		e := &list[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		if e.Key != "" {
			b = append(appendString(append(b, `"key":`...), e.Key), ',')
		}
		b = appendString(append(b, `"name":`...), e.Name)
		b = append(b, `,"id":`...)
		if e.ID == "" {
			b = append(b, "null"...)
		} else {
			b = appendString(b, e.ID)
		}
		b = appendTime(append(b, `,"updated_at":`...), e.UpdatedAt)
		b = appendTime(append(b, `,"created_at":`...), e.CreatedAt)
		b = appendTime(append(b, `,"last_accessed_at":`...), e.AccessedAt)
		b = appendDocument(append(b, `,"metadata":`...), e.Metadata)
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendTime appends a time as JavaScript writes it, or null.
func appendTime(b []byte, t *time.Time) []byte {
	if t == nil {
		return append(b, "null"...)
	}
	return append(objects.AppendTimestamp(append(b, '"'), *t), '"')
}

// appendString appends a JSON string as encode writes it.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := encode(s) // a string has no error
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendDocument appends a JSON document of Postgres, or null for nil. Of its white space, jsonb
// prints only spaces between tokens, which are left out, as encode leaves them out.
func appendDocument(b, document []byte) []byte {
	if document == nil {
		return append(b, "null"...)
	}
	for {
		// Outside of strings.
		i := bytes.IndexByte(document, '"')
		outside := document
		if i >= 0 {
			outside = document[:i]
		}
		for _, c := range outside {
			if c != ' ' {
				b = append(b, c)
			}
		}
		if i < 0 {
			return b
		}
		document = document[i:]
		// A string ends at the next quote that no backslash escapes.
		end := 1
		for end < len(document) && document[end] != '"' {
			if document[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(document))
		b = append(b, document[:end]...)
		document = document[end:]
	}
}
