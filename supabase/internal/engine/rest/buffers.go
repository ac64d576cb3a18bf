package rest

import (
	"sync"

	"daawo/supabase/internal/database/pool"
)

// buffers are the slices that a request fills. They are pooled, so that a small request allocates
// little. Nothing may use them after the reply.
type buffers struct {
	values     []byte // the text of args
	args       [][]byte
	statements []pool.Statement
	row        []byte // a row as JSON
	jsonb      jsonbPrinter
}

// maxPooled is the capacity in bytes above which a slice is dropped instead of pooled.
const maxPooled = 64 << 10

// bufferPool is a pool of buffers. The zero value is ready for use.
type bufferPool struct{ pool sync.Pool }

func (p *bufferPool) get() *buffers {
	if b, ok := p.pool.Get().(*buffers); ok {
		return b
	}
	return &buffers{}
}

func (p *bufferPool) put(b *buffers) {
	if cap(b.values) > maxPooled {
		b.values = nil
	}
	if cap(b.row) > maxPooled {
		b.row = nil
	}
	if cap(b.jsonb.moved) > maxPooled {
		b.jsonb.moved = nil
	}
	b.jsonb.src = nil
	clear(b.args) // drop references so the values can be collected
	clear(b.statements)
	p.pool.Put(b)
}
