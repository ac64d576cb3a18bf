package rest

import (
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

// lap ends the phase of the given name.
func (t *stopwatch) lap(name string) {
	if !t.on {
		return
	}
	now := t.now()
	if t.text != "" {
		t.text += ", "
	}
	t.text += name + ";dur=" + strconv.FormatFloat(float64(now.Sub(t.last).Microseconds())/1000, 'f', -1, 64)
	t.last = now
}
