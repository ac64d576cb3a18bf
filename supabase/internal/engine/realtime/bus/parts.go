package bus

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// A message on the wire is either whole (first byte 0) or a part: 1, the id of the message, the
// index of the part, the number of parts.
const (
	whole      = 0
	part       = 1
	idSize     = 16
	partHeader = 1 + idSize + 2 + 2
)

// split returns data as messages with at most size bytes of data each.
func split(data []byte, size int) [][]byte {
	if len(data) <= size {
		return [][]byte{append([]byte{whole}, data...)}
	}
	var id [idSize]byte
	_, _ = rand.Read(id[:]) // never fails
	count := (len(data) + size - 1) / size
	parts := make([][]byte, count)
	for i := range parts {
		chunk := data[i*size : min(len(data), (i+1)*size)]
		p := make([]byte, 0, partHeader+len(chunk))
		p = append(p, part)
		p = append(p, id[:]...)
		p = binary.BigEndian.AppendUint16(p, uint16(i))
		p = binary.BigEndian.AppendUint16(p, uint16(count))
		parts[i] = append(p, chunk...)
	}
	return parts
}

// Limits of incomplete messages, whose publisher may have been killed.
const (
	partPatience = 10 * time.Second
	maxParts     = 64       // of one message
	maxPartial   = 64 << 20 // bytes of all incomplete messages
)

// joiner joins the parts of messages. One goroutine uses it.
type joiner struct {
	now     func() time.Time
	partial map[[idSize]byte]*partial
	size    int
}

type partial struct {
	data  []byte
	next  uint16
	since time.Time
}

func newJoiner(now func() time.Time) *joiner {
	return &joiner{now: now, partial: map[[idSize]byte]*partial{}}
}

// add returns a message if wire completes it. It drops messages with a missing part.
func (j *joiner) add(wire []byte) ([]byte, bool) {
	if len(wire) == 0 {
		return nil, false
	}
	if wire[0] == whole {
		return wire[1:], true
	}
	if wire[0] != part || len(wire) < partHeader {
		return nil, false
	}
	id := [idSize]byte(wire[1 : 1+idSize])
	index, count := binary.BigEndian.Uint16(wire[1+idSize:]), binary.BigEndian.Uint16(wire[3+idSize:])
	j.expire()
	p := j.partial[id]
	if p == nil {
		if index != 0 || count > maxParts {
			return nil, false
		}
		p = &partial{since: j.now()}
		j.partial[id] = p
	}
	if index != p.next || j.size+len(wire) > maxPartial {
		j.drop(id)
		return nil, false
	}
	p.data, p.next = append(p.data, wire[partHeader:]...), index+1
	j.size += len(wire) - partHeader
	if p.next < count {
		return nil, false
	}
	data := p.data
	j.drop(id)
	return data, true
}

func (j *joiner) drop(id [idSize]byte) {
	j.size -= len(j.partial[id].data)
	delete(j.partial, id)
}

func (j *joiner) expire() {
	for id, p := range j.partial {
		if j.now().Sub(p.since) > partPatience {
			j.drop(id)
		}
	}
}
