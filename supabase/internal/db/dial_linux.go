package db

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT (tcp(7)), in milliseconds.
const tcpUserTimeout = 0x12

// giveUp ends a connection whose bytes nobody confirms. A kernel that cannot do that waits longer: no error.
func giveUp(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(unacknowledged.Milliseconds()))
	})
}
