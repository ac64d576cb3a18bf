package realtime

// eventPolicies is the event of a private broadcast from the database after which the policies of
// its topic are checked again. Channels whose user may no longer read end.
const eventPolicies = "policies_changed"

// maxRechecks is how many channels check their policies again at once. Others wait, because a check
// that finds no free connection ends its channel.
const maxRechecks = 4

// recheckPolicies checks the policies of channels again, once new statements see the transaction
// xid: the log has a commit a moment before. It does not wait. A channel that is about to join
// compares policyChanges.
func recheckPolicies(e *Engine, xid uint32, channels func() []*channel) {
	e.wait.Add(1)
	go func() {
		defer e.wait.Done()
		if xid != 0 && e.o.Changes != nil {
			if err := e.o.Changes.AwaitVisible(e.ctx, xid); err != nil && e.ctx.Err() == nil {
				e.o.Log.Warn("policies are checked again without waiting for the change", "error", err)
			}
		}
		e.policyChanges.Add(1)
		for _, c := range channels() {
			c.recheck()
		}
	}()
}

// recheck checks the policies again and ends the channel if its user may no longer read.
func (c *channel) recheck() {
	c.do(0, func() bool { return true }, func() {
		select {
		case c.s.e.rechecks <- struct{}{}:
			defer func() { <-c.s.e.rechecks }()
		case <-c.s.e.ctx.Done():
			return
		}
		if c.joined.Load() {
			c.renewPolicies()
		}
	})
}
