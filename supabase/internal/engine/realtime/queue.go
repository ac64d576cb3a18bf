package realtime

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"
)

// Limits of a connection's unsent frames. A slow client is cut off: what it misses cannot be sent
// later in order.
const (
	maxQueued    = 8 << 20          // bytes; more than the largest payload
	maxWriteTime = 15 * time.Second // for one write of at most maxBatch bytes, or of one frame
	maxBatch     = 256 << 10        // bytes
	frameCost    = 64               // bytes of memory that a queued frame costs besides its data
)

var errSlow = errors.New("the client reads too slowly")

// queue writes frames to a connection in order. It has a goroutine only while there is something to
// write, so an idle connection costs no stack and no buffer for writing.
type queue struct {
	conn net.Conn
	slow func() // called once if the client is cut off for reading too slowly

	mu      sync.Mutex
	frames  [][]byte  // begins in few
	few     [2][]byte // spares an allocation for each frame of a client that keeps up
	size    int
	writing bool
	ending  bool // close the connection after the last frame
	ended   bool

	deadline time.Time // of writes; only the writing goroutine uses it
}

// send queues a frame. It does not block, and frame must not be changed afterwards.
func (q *queue) send(frame []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ending || q.ended {
		return net.ErrClosed
	}
	if q.size+len(frame) > maxQueued && q.size > 0 {
		q.endLocked()
		if q.slow != nil {
			q.slow()
		}
		return errSlow
	}
	if q.frames == nil {
		q.frames = q.few[:0]
	}
	q.frames = append(q.frames, frame)
	q.size += len(frame) + frameCost
	q.startLocked()
	return nil
}

// roomEvery is how often awaitRoom looks.
const roomEvery = 10 * time.Millisecond

// awaitRoom waits until at most an eighth of the queue is in use, the connection is closed or ctx
// ends.
func (q *queue) awaitRoom(ctx context.Context) {
	for {
		q.mu.Lock()
		room := q.size <= maxQueued/8 || q.ended
		q.mu.Unlock()
		if room {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(roomEvery):
		}
	}
}

// close closes the connection once the queued frames are written.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ending = true
	q.startLocked()
}

// abort closes the connection at once.
func (q *queue) abort() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.endLocked()
}

func (q *queue) endLocked() {
	if !q.ended {
		q.ended, q.frames = true, nil
		_ = q.conn.Close() // the peer may have closed it
	}
}

func (q *queue) startLocked() {
	switch {
	case q.writing || q.ended:
	case len(q.frames) > 0:
		q.writing = true
		go q.write()
	case q.ending:
		q.endLocked()
	}
}

func (q *queue) write() {
	for {
		q.mu.Lock()
		if len(q.frames) == 0 {
			q.writing, q.frames, q.few = false, nil, [2][]byte{}
			q.startLocked() // closes if it is the end
			q.mu.Unlock()
			return
		}
		n, size := 0, 0
		for n < len(q.frames) && (n == 0 || size+len(q.frames[n]) <= maxBatch) {
			size += len(q.frames[n])
			n++
		}
		batch := q.frames[:n:n]
		q.frames = q.frames[n:]
		q.mu.Unlock()

		err := q.put(batch)
		q.mu.Lock()
		q.size -= size + n*frameCost
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() && !q.ended && q.slow != nil {
				q.slow()
			}
			q.endLocked()
			q.writing = false
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
	}
}

// put writes frames within maxWriteTime, or up to a second less: an earlier deadline is used again,
// because setting one costs more than the rest of a short write in this process.
func (q *queue) put(batch [][]byte) error {
	if now := time.Now(); q.deadline.Sub(now) < maxWriteTime-time.Second {
		q.deadline = now.Add(maxWriteTime)
		if err := q.conn.SetWriteDeadline(q.deadline); err != nil {
			return err
		}
	}
	if len(batch) == 1 {
		_, err := q.conn.Write(batch[0])
		return err
	}
	buffers := net.Buffers(batch)
	_, err := buffers.WriteTo(q.conn)
	return err
}

// queuedConn is the connection of the WebSocket library, whose control frames go through the queue.
type queuedConn struct {
	net.Conn
	out   *queue
	early []byte // what the client sent before the handshake ended
}

func (c *queuedConn) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

func (c *queuedConn) Write(p []byte) (int, error) {
	if err := c.out.send(bytes.Clone(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *queuedConn) Close() error {
	c.out.close()
	return nil
}

// Opcodes of RFC 6455.
const (
	opText   = 1
	opBinary = 2
	final    = 0x80
)

// maxFrameHeader is the size of the longest header of an unmasked frame.
const maxFrameHeader = 10

// newFrame returns a frame whose payload is what fill appends. Frames from a server have no mask.
func newFrame(isBinary bool, size int, fill func([]byte) []byte) []byte {
	buffer := fill(make([]byte, maxFrameHeader, maxFrameHeader+size))
	op := byte(final | opText)
	if isBinary {
		op = final | opBinary
	}
	n := len(buffer) - maxFrameHeader
	start := 0
	switch {
	case n < 126:
		start = maxFrameHeader - 2
		buffer[start+1] = byte(n)
	case n < 1<<16:
		start = maxFrameHeader - 4
		buffer[start+1] = 126
		binary.BigEndian.PutUint16(buffer[start+2:], uint16(n))
	default:
		buffer[1] = 127
		binary.BigEndian.PutUint64(buffer[2:], uint64(n))
	}
	buffer[start] = op
	return buffer[start:]
}
