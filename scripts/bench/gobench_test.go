package main

import "testing"

func TestGoalMet(t *testing.T) {
	for _, tt := range []struct {
		value  float64
		atMost bool
		want   string
	}{
		{0.7, false, "met"}, {0.71, false, "met"}, {0.69, false, "MISSED"},
		{0.7, true, "met"}, {0.69, true, "met"}, {0.71, true, "MISSED"},
	} {
		if got := (figure{value: tt.value, goal: &goal{value: 0.7, atMost: tt.atMost}}).met(); got != tt.want {
			t.Errorf("%v, at most %v: %s, want %s", tt.value, tt.atMost, got, tt.want)
		}
	}
}
