package main

import (
	"fmt"
	"testing"
)

// TestAttendance checks that a difference that arrives before the state counts after it.
func TestAttendance(t *testing.T) {
	var a attendance
	for i, m := range []struct {
		event, payload string
		keys           int
	}{
		{"presence_diff", `{"joins": {"b": {"metas": [{"phx_ref": "2"}]}}, "leaves": {"c": {"metas": [{"phx_ref": "3"}]}}}`, 0},
		{"presence_state", `{"a": {"metas": [{"phx_ref": "1"}]}, "c": {"metas": [{"phx_ref": "3"}]}}`, 2},
		{"presence_diff", `{"joins": {}, "leaves": {"a": {"metas": [{"phx_ref": "1"}]}}}`, 1},
	} {
		if err := a.apply(m.event, []byte(m.payload)); err != nil {
			t.Fatal(err)
		}
		if got := a.members.keys(); got != m.keys {
			t.Errorf("%d members after message %d: %s", got, i, fmt.Sprint(a.members))
		}
	}
}
