package handover

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// maxMessage is the size of the largest message, in bytes. maxFiles is the number of files that the
// kernel passes at once.
const (
	maxMessage = 1 << 20
	maxFiles   = 253
)

// kind is the kind of a message.
type kind string

const (
	welcome  kind = "welcome"  // keeper: what the server must know, with the sockets
	ready    kind = "ready"    // server: it serves, with its sockets
	failed   kind = "failed"   // server: it does not start
	alone    kind = "alone"    // keeper: no other server runs any more
	replaced kind = "replaced" // keeper: another server serves; finish and end
	stop     kind = "stop"     // keeper: end
	upgrade  kind = "upgrade"  // server: start the next server
	upgraded kind = "upgraded" // keeper: the next server serves, or why not
)

// message is one message of a link. Text is an error, "" for none. Names belong to the files
// that come with the message.
type message struct {
	Kind  kind            `json:"kind"`
	Text  string          `json:"text,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	Names []string        `json:"names,omitempty"`
	files []int
}

// link is a unix socket between a keeper and a server. It carries JSON with a length before it, and
// open files.
type link struct {
	conn    *net.UnixConn
	writing sync.Mutex
}

// pair returns two connected sockets. Programs that are started do not inherit them.
func pair() (fds [2]int, err error) {
	fds, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return fds, fmt.Errorf("socket pair: %w", err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return fds, nil
}

// newLink returns a link over a connected unix socket, which it owns.
func newLink(fd int) (*link, error) {
	f := os.NewFile(uintptr(fd), "handover")
	if f == nil {
		return nil, fmt.Errorf("%d is no open file", fd)
	}
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("not a unix socket"), conn.Close())
	}
	return &link{conn: unixConn}, nil
}

// send sends a message with its files, which stay open here.
func (l *link) send(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(text) > maxMessage || len(m.files) > maxFiles || len(m.files) != len(m.Names) {
		return fmt.Errorf("a message of %d bytes with %d files cannot be sent", len(text), len(m.files))
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	head := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
	var rights []byte
	if len(m.files) > 0 {
		rights = unix.UnixRights(m.files...)
	}
	if _, _, err := l.conn.WriteMsgUnix(head, rights, nil); err != nil {
		return err
	}
	_, err = l.conn.Write(text)
	return err
}

// receive returns the next message. The caller owns its files. The error is io.EOF when the other
// side has ended.
func (l *link) receive() (m message, err error) {
	head := make([]byte, 4)
	rights := make([]byte, unix.CmsgSpace(4*maxFiles))
	n, got, _, _, err := l.conn.ReadMsgUnix(head, rights)
	if err != nil {
		return m, err
	}
	if n == 0 {
		return m, io.EOF
	}
	if m.files, err = filesOf(rights[:got]); err != nil {
		return m, err
	}
	defer func() {
		if err != nil {
			closeFiles(m.files)
		}
	}()
	if _, err := io.ReadFull(l.conn, head[n:]); err != nil {
		return m, err
	}
	size := binary.BigEndian.Uint32(head)
	if size > maxMessage {
		return m, fmt.Errorf("a message of %d bytes", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(l.conn, text); err != nil {
		return m, err
	}
	files := m.files
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	if len(files) != len(m.Names) {
		return m, fmt.Errorf("%d files came with %d names", len(files), len(m.Names))
	}
	return m, nil
}

// filesOf returns the files of a control message.
func filesOf(rights []byte) (files []int, err error) {
	if len(rights) == 0 {
		return nil, nil
	}
	parts, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		fds, err := unix.ParseUnixRights(&part)
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
		}
		files = append(files, fds...)
	}
	return files, nil
}

func closeFiles(files []int) {
	for _, fd := range files {
		_ = unix.Close(fd)
	}
}

func (l *link) close() { _ = l.conn.Close() }
