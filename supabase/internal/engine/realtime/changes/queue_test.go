package changes

import (
	"slices"
	"testing"
	"time"
)

// TestQueueOrder: changes beyond the limit are refused, an order is not, and it comes after the
// changes that were pushed before it and before those pushed after it.
func TestQueueOrder(t *testing.T) {
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
			q.order(rowChange{xid: xids[0], control: &control{reset: true}})
		}
	}
	pop := func(n int, want ...uint32) {
		t.Helper()
		items, err := q.pop(t.Context(), n)
		if err != nil || len(items) != len(want) {
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
	pop(2, 2, 3)
	push(true, 5)
	pop(9, 4, 5)
	push(false, 6, 6, 6, 6)
	pop(9, 6)
}

// TestJoinWithinLostTransaction: a transaction is too large for the queue, and a subscriber joins
// with changes of before while it is read. The subscriber is told that changes are missing.
func TestJoinWithinLostTransaction(t *testing.T) {
	t.Parallel()
	d, s := open(t, func(o *Options) { o.MaxQueueBytes = 40_000 })
	day := time.Now().UTC().Format(time.DateOnly)
	d.ExecAs("supabase_realtime_admin", `create table realtime.messages_today partition of realtime.messages
		for values from ('`+day+`') to ('2100-01-01')`)
	d.Exec(notes + `create table others (id int primary key); alter publication supabase_realtime add table others;`)
	reached, read := make(chan struct{}), make(chan struct{})
	s.OnBroadcast(func(Broadcast) { // all rows of the transaction are read, its end is not
		close(reached)
		<-read
	}, nil)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "others"})
	d.Exec(`insert into others (id) values (1)`)
	settle(t, d, s)
	position := box.take()[0].Position
	d.Exec(`
		with rows as (insert into notes select n, repeat('x', 1000) from generate_series(1, 100) n)
		insert into realtime.messages (topic, extension, event, payload) values ('t', 'broadcast', 'e', '{}')`)
	<-reached
	j := joinAgain(t, s, service, position, "notes")
	j.joined(t)
	close(read)
	eventually(t, "the subscriber is told", func() bool {
		return slices.ContainsFunc(j.take(), func(c Change) bool { return string(c.Data) == reasonTooLarge })
	})
	if s.lost.Load() != 1 {
		t.Errorf("%d transactions lost", s.lost.Load())
	}
}
