package changes

import (
	"testing"
)

// fullRing returns a ring that has reached its limit, and a change of its commits.
func fullRing() (*ring, []rowChange) {
	r := &ring{limit: 2000 * overhead}
	one := []rowChange{{}}
	for n := range 2500 {
		one[0].position = uint64(n)
		r.add(one)
	}
	return r, one
}

// TestFullRing: a full ring is not copied at each commit, and keeps most of its limit.
func TestFullRing(t *testing.T) {
	r, one := fullRing()
	if copies := testing.AllocsPerRun(1000, func() {
		one[0].position++
		r.add(one)
	}); copies >= 1 {
		t.Errorf("%v allocations for a commit", copies)
	}
	if r.bytes > r.limit || r.bytes < r.limit*3/4 {
		t.Errorf("%d bytes, the limit is %d", r.bytes, r.limit)
	}
	if want := len(r.items) * overhead; r.bytes != want {
		t.Errorf("counted %d bytes, want %d", r.bytes, want)
	}
}

func BenchmarkFullRing(b *testing.B) {
	r, one := fullRing()
	b.ReportAllocs()
	for b.Loop() {
		one[0].position++
		r.add(one)
	}
}
