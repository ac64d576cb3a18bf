package rest

import "daawo/supabase/internal/db"

// room is memory that a request borrows from its engine, so that a small one allocates little. Nothing of it is used
// after the reply.
type room struct {
	bytes      []byte // the values in args
	args       [][]byte
	statements []db.Statement
	body       []byte
}

// maxRoom is the size in bytes beyond which memory is given back instead of kept for the next request.
const maxRoom = 64 << 10

func (e *Engine) borrow() *room {
	if r, ok := e.rooms.Get().(*room); ok {
		return r
	}
	return &room{}
}

func (e *Engine) giveBack(r *room) {
	if cap(r.bytes) > maxRoom {
		r.bytes = nil
	}
	if cap(r.body) > maxRoom {
		r.body = nil
	}
	clear(r.args) // what they lead to need not stay
	clear(r.statements)
	e.rooms.Put(r)
}
