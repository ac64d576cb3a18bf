package pool

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT (tcp(7)), in milliseconds.
const tcpUserTimeout = 0x12

// setUserTimeout closes a connection when sent bytes stay unacknowledged for userTimeout. It
// ignores errors: without the option the kernel waits longer.
func setUserTimeout(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(userTimeout.Milliseconds()))
	})
}
