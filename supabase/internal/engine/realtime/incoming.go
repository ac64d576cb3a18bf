package realtime

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"sync"

	"github.com/coder/websocket"
)

const (
	smallMessage = 16 << 10  // bytes of a message that every socket may hold
	maxIncoming  = 128 << 20 // bytes of all larger messages that are being read
)

// incoming counts the memory of large messages while they are read and handled. A home line gets a
// quarter of what the others leave, so that unfinished messages of one line leave memory to others.
type incoming struct {
	mu    sync.Mutex
	total int
	lines map[netip.Addr]int
}

// reserve reports whether a line may hold n more bytes, and counts them.
func (i *incoming) reserve(line netip.Addr, n int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	free := maxIncoming - i.total
	if held := i.lines[line]; line.IsValid() {
		free = (free+held)/4 - held
	}
	if n > free {
		return false
	}
	if i.lines == nil {
		i.lines = map[netip.Addr]int{}
	}
	i.total += n
	i.lines[line] += n
	return true
}

// release uncounts n bytes of a line.
func (i *incoming) release(line netip.Addr, n int) {
	if n == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.total -= n
	if i.lines[line] -= n; i.lines[line] <= 0 {
		delete(i.lines, line)
	}
}

// errCrowded: there is no memory for a large message at the moment.
var errCrowded = errors.New("too many large messages at once; send it again later")

// read reads a message. The caller releases the held bytes when it has handled it, also after an
// error.
func (s *socket) read() (kind websocket.MessageType, data []byte, held int, err error) {
	kind, r, err := s.conn.Reader(context.Background())
	if err != nil {
		return kind, nil, 0, err
	}
	data = make([]byte, 0, 512)
	for {
		if len(data) == cap(data) {
			size := min(2*cap(data), maxMessage+512)
			if size > smallMessage {
				if !s.e.incoming.reserve(s.line, size-held) {
					s.end(closeTryAgainLater)
					return kind, nil, held, errCrowded
				}
				held = size
			}
			data = append(make([]byte, 0, size), data...)
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return kind, data, held, nil
		}
		if err != nil {
			return kind, nil, held, err
		}
	}
}
