package cli

import "testing"

func TestDoctorCounts(t *testing.T) {
	for n, want := range map[int]string{1: "1 thing is bad", 2: "2 things are bad"} {
		if got := badThings(n).Error(); got != want {
			t.Error(got)
		}
	}
}
