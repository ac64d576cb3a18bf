package deno

import "testing"

// TestExceededBeforeEnd checks that a call learns of the limit that a process has exceeded, though
// the killed process has not ended yet.
func TestExceededBeforeEnd(t *testing.T) {
	p := &process{limit: limitCPU, exited: make(chan struct{}), lines: &output{}}
	if limit, _ := p.exceeded(); limit != limitCPU {
		t.Errorf("%q", limit)
	}
}
