package rest

import (
	"net/http"
	"strconv"
	"time"
)

// stopwatch times the phases of a request for the Server-Timing header.
type stopwatch struct {
	on   bool
	now  func() time.Time
	last time.Time
	text string
}

func (t *stopwatch) start() {
	if t.on {
		t.last = t.now()
	}
}

// header ends the phase "response" and sets the Server-Timing header.
func (t *stopwatch) header(h http.Header) {
	if t.on {
		t.lap("response")
		h.Set("Server-Timing", t.text)
	}
}

// lap ends the phase of the given name. Its duration is in milliseconds, always with a decimal
// point, as PostgREST's.
func (t *stopwatch) lap(name string) {
	if !t.on {
		return
	}
	now := t.now()
	if t.text != "" {
		t.text += ", "
	}
	t.text += name + ";dur=" + strconv.FormatFloat(float64(now.Sub(t.last).Microseconds())/1000, 'f', 3, 64)
	t.last = now
}
