package changes

import (
	"errors"
	"testing"
)

// TestQueueGap: a gap is returned once, after the changes that were pushed before it and before
// those pushed after it.
func TestQueueGap(t *testing.T) {
	q := newQueue(3 * overhead)
	push := func(want bool, xids ...uint32) {
		t.Helper()
		items := make([]rowChange, len(xids))
		for i, xid := range xids {
			items[i].xid = xid
		}
		if got := q.push(items); got != want {
			t.Errorf("push of %v: %v", xids, got)
		}
		if !want {
			q.pushGap(reasonQueue)
		}
	}
	pop := func(n int, want ...uint32) {
		t.Helper()
		items, err := q.pop(t.Context(), n)
		var gap gapError
		if len(want) == 0 && !errors.As(err, &gap) || len(items) != len(want) {
			t.Fatalf("%d changes, %v", len(items), err)
		}
		for i := range items {
			if items[i].xid != want[i] {
				t.Errorf("change %d instead of %d", items[i].xid, want[i])
			}
		}
	}
	push(true, 1, 2)
	push(false, 3, 3)
	push(false, 4, 4)
	pop(1, 1)
	push(true, 5)
	pop(9, 2)
	pop(9)
	pop(9, 5)
	push(false, 6, 6, 6, 6)
	pop(9)
}
