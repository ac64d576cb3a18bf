package doctor

import (
	"golang.org/x/sys/unix"
)

// clock asks the kernel whether the clock is synchronized. Tokens, links and backups rely on it.
func (c *checker) clock() {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	switch {
	case err != nil:
		c.say("clock", Note, "unknown", "synchronization unknown: %v", err)
	case state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0:
		c.say("clock", Warn, "unsynchronized", "is not synchronized: install chrony or turn on systemd-timesyncd")
	default:
		c.say("clock", Good, "synchronized", "is synchronized")
	}
}
