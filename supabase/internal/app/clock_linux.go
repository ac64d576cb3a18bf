package app

import "golang.org/x/sys/unix"

// examineClock asks the kernel whether somebody keeps the clock right: tokens, links and backups rely on it.
func examineClock(say sayer) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	switch {
	case err != nil:
		say("clock", Note, "the kernel does not say whether it is kept right: %v", err)
	case state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0:
		say("clock", Warn, "nobody keeps it right: install chrony or turn on systemd-timesyncd")
	default:
		say("clock", Good, "is kept right")
	}
}
