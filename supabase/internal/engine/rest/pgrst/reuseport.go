package pgrst

import "golang.org/x/sys/unix"

// reusePort allows several processes to listen on one port (server-reuseport).
func reusePort(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) }
