package handover

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sockets are the listening TCP sockets of a program. They are opened here, or come from systemd or
// from a running process.
type Sockets struct {
	mu    sync.Mutex
	given []given
	open  map[string]*net.TCPListener
}

// given is a listening socket that another process has opened.
type given struct {
	name     string // "" for one of systemd
	listener *net.TCPListener
}

// NewSockets returns a set without sockets.
func NewSockets() *Sockets { return &Sockets{open: map[string]*net.TCPListener{}} }

// Names of the sockets, under which a process passes them to the next one.
const (
	PlainSocket     = "api"
	SecureSocket    = "https"
	WebSocket       = "http"
	AdminSocket     = "administrators"
	StudioSocket    = "studio"
	InboxSocket     = "inbox"
	SMTPSocket      = "smtp"
	FunctionsSocket = "functions"
	DatabaseSocket  = "database"
	ViteSocket      = "vite"
)

// Port returns the port of a listener.
func Port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// firstOfSystemd is the first file that systemd passes (sd_listen_fds(3)).
const firstOfSystemd = 3

// FromSystemd returns the sockets of a systemd unit's socket units, none without socket activation.
// It removes systemd's variables, so that programs that are started do not take the sockets for
// theirs.
func FromSystemd() (*Sockets, error) {
	s := NewSockets()
	pid, count := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	if pid != strconv.Itoa(os.Getpid()) {
		return s, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("LISTEN_FDS: %q is not a number of sockets", count)
	}
	for fd := firstOfSystemd; fd < firstOfSystemd+n; fd++ {
		unix.CloseOnExec(fd)
		if err := s.give("", fd); err != nil {
			return nil, fmt.Errorf("a socket of systemd: %w", err)
		}
	}
	return s, nil
}

// give adds a socket of another process, which it owns.
func (s *Sockets) give(name string, fd int) error {
	f := os.NewFile(uintptr(fd), name)
	if f == nil {
		return fmt.Errorf("%d is no open file", fd)
	}
	defer f.Close()
	l, err := net.FileListener(f) // duplicates it
	if err != nil {
		return err
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return errors.Join(fmt.Errorf("%s is not a TCP socket", l.Addr()), l.Close())
	}
	s.given = append(s.given, given{name, tcp})
	return nil
}

// Listen returns the socket of a name. It is one that was given if its address is the wanted one:
// of systemd, one with this port; of a process, one with this name and address. port 0 and anyPort
// accept each port of a process. Otherwise Listen opens the address; with anyPort it opens a free
// port if another program uses this one.
func (s *Sockets) Listen(name, host string, port uint16, anyPort bool) (net.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, g := range s.given {
		at := g.listener.Addr().(*net.TCPAddr)
		same := at.Port == int(port)
		if g.name != "" {
			same = g.name == name && sameHost(at.IP, host) && (same || port == 0 || anyPort)
		}
		if same {
			s.given = append(s.given[:i:i], s.given[i+1:]...)
			s.open[name] = g.listener
			return g.listener, nil
		}
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
	if errors.Is(err, syscall.EADDRINUSE) && anyPort {
		l, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d is in use by another program: stop that program, or choose another port with %s (0 for a free one)",
			port, portSetting(name))
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user cannot open port %d: ports below 1024 need root or the capability CAP_NET_BIND_SERVICE", port)
	case err != nil:
		return nil, err
	}
	s.open[name] = l.(*net.TCPListener)
	return l, nil
}

// portSetting returns what chooses the port of a socket.
func portSetting(name string) string {
	switch name {
	case AdminSocket:
		return "DESK_PORT"
	case StudioSocket:
		return "studio.port of config.toml"
	case InboxSocket:
		return "--inbox-port or local_smtp.port of config.toml"
	case SMTPSocket:
		return "local_smtp.smtp_port of config.toml"
	case FunctionsSocket:
		return "PORT"
	case DatabaseSocket:
		return "--db-port or db.port of config.toml"
	case PlainSocket:
		return "--port or api.port of config.toml"
	}
	return "--port"
}

// sameHost reports whether a socket listens on the address of a configured host.
func sameHost(ip net.IP, host string) bool {
	if host == "localhost" {
		return ip.IsLoopback()
	}
	want := net.ParseIP(host)
	return ip.Equal(want) || ip.IsUnspecified() && (host == "" || want.IsUnspecified())
}

// CloseUnused closes the sockets that were given and that Listen has not returned, and returns
// their addresses.
func (s *Sockets) CloseUnused() (addresses []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.given {
		addresses = append(addresses, g.listener.Addr().String())
		_ = g.listener.Close()
	}
	s.given = nil
	return addresses
}

// Files duplicates the open sockets.
func (s *Sockets) Files() (*Files, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &Files{}
	for name, l := range s.open {
		raw, err := l.SyscallConn() // not File, which may change the mode of the socket for all its owners
		if err == nil {
			err = f.add(name, raw)
		}
		if errors.Is(err, net.ErrClosed) {
			continue // its owner has closed it
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("socket %s: %w", name, err)
		}
	}
	return f, nil
}

// Files are open files by name.
type Files struct {
	names []string
	fds   []int
}

// AddLock duplicates the lock of the data folder, which the server keeps open.
func (f *Files) AddLock(lock *os.File) error {
	raw, err := lock.SyscallConn()
	if err != nil {
		return err
	}
	return f.add(lockName, raw)
}

func (f *Files) add(name string, raw syscall.RawConn) error {
	var fd int
	var err error
	if cerr := raw.Control(func(own uintptr) { fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) }); cerr != nil {
		return cerr
	}
	if err != nil {
		return err
	}
	f.names, f.fds = append(f.names, name), append(f.fds, fd)
	return nil
}

// duplicate returns duplicates of the files.
func (f *Files) duplicate() (*Files, error) {
	copied := &Files{}
	for i, fd := range f.fds {
		other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			copied.Close()
			return nil, fmt.Errorf("socket %s: %w", f.names[i], err)
		}
		copied.names, copied.fds = append(copied.names, f.names[i]), append(copied.fds, other)
	}
	return copied, nil
}

// take removes a file and returns it, nil if there is none of that name.
func (f *Files) take(name string) *os.File {
	for i, n := range f.names {
		if n == name {
			file := os.NewFile(uintptr(f.fds[i]), name)
			f.names, f.fds = append(f.names[:i:i], f.names[i+1:]...), append(f.fds[:i:i], f.fds[i+1:]...)
			return file
		}
	}
	return nil
}

// Close closes the files.
func (f *Files) Close() {
	closeFiles(f.fds)
	f.names, f.fds = nil, nil
}
