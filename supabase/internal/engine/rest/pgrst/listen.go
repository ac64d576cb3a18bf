package pgrst

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// listen opens a unix socket if its path is not empty, otherwise a TCP port. A host is an address
// or name, "*" for all addresses, "*4" or "*6" for all addresses with a preference, "!4" or "!6"
// for all addresses of one family.
func listen(ctx context.Context, socket string, mode fs.FileMode, host string, port int, reuse bool) (net.Listener,
	error) {
	if socket != "" {
		if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		l, err := net.Listen("unix", socket)
		if err != nil {
			return nil, err
		}
		return l, os.Chmod(socket, mode)
	}
	network, address := "tcp", host
	switch {
	case host == "!4":
		network, address = "tcp4", ""
	case host == "!6":
		network, address = "tcp6", ""
	case strings.HasPrefix(host, "*"):
		address = ""
	}
	lc := net.ListenConfig{}
	if reuse {
		lc.Control = func(_, _ string, c syscall.RawConn) error {
			var serr error
			err := c.Control(func(fd uintptr) { serr = reusePort(int(fd)) })
			if err == nil {
				err = serr
			}
			return err
		}
	}
	l, err := lc.Listen(ctx, network, net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen on port %d: %w", port, err)
	}
	return l, nil
}
