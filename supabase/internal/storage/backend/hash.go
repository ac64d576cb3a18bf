package backend

import (
	"crypto/md5"
	"encoding/hex"
	"io"
)

// copyBuffer is the size in bytes of the two buffers of a copy.
const copyBuffer = 64 << 10

// copyHashed copies src to dst while another goroutine computes the checksum. sum waits for the checksum. The caller must
// call it, even after an error.
func (d *Disk) copyHashed(dst io.Writer, src io.Reader) (size int64, sum func() string, err error) {
	type piece struct {
		buffer *[copyBuffer]byte
		n      int
	}
	filled, free, done := make(chan piece, 2), make(chan *[copyBuffer]byte, 2), make(chan string, 1)
	for range cap(free) {
		free <- d.buffers.Get().(*[copyBuffer]byte)
	}
	go func() {
		h := md5.New()
		for p := range filled {
			h.Write(p.buffer[:p.n])
			free <- p.buffer
		}
		for range cap(free) {
			d.buffers.Put(<-free)
		}
		done <- hex.EncodeToString(h.Sum(nil))
	}()
	defer close(filled)
	sum = func() string { return <-done }
	for {
		buffer := <-free
		n, err := fill(src, buffer[:])
		if n > 0 {
			if _, werr := dst.Write(buffer[:n]); werr != nil {
				err = werr
			}
			size += int64(n)
		}
		filled <- piece{buffer, n}
		switch err {
		case nil:
		case io.EOF:
			return size, sum, nil
		default:
			return size, sum, err
		}
	}
}

// fill reads until the buffer is full. Unlike io.ReadFull it returns io.EOF for a short read, so that io.ErrUnexpectedEOF
// always means a truncated body.
func fill(src io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = src.Read(buffer[n:])
		n += more
	}
	return n, err
}
