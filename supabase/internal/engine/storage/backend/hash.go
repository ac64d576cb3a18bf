package backend

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"io"
	"os"
)

// copyBuffer is the size in bytes of the two buffers of a copy.
const copyBuffer = 64 << 10

// content writes the bytes of a version into its new file and returns their number. sum waits for
// the checksum. The caller must call it, also after an error.
type content func(f *os.File) (size int64, sum func() string, err error)

// hashed is the content of body.
func (d *Disk) hashed(ctx context.Context, body io.Reader) content {
	return func(f *os.File) (int64, func() string, error) { return d.copyHashed(f, &contextReader{ctx, body}) }
}

// clonePiece is how many bytes are copied before the context is asked again.
const clonePiece = 8 << 20

// cloned is the content of a file whose checksum is known. The system copies it (copy_file_range),
// and file systems such as XFS and Btrfs let both files share the bytes.
func cloned(ctx context.Context, from *os.File, etag string) content {
	return func(f *os.File) (size int64, sum func() string, err error) {
		for err == nil {
			if err = ctx.Err(); err != nil {
				break
			}
			var n int64
			n, err = io.CopyN(f, from, clonePiece)
			size += n
		}
		if err == io.EOF {
			err = nil
		}
		return size, func() string { return etag }, err
	}
}

// isMD5 reports whether a checksum is an MD5 sum in hexadecimal digits.
func isMD5(etag string) bool {
	sum, err := hex.DecodeString(etag)
	return err == nil && len(sum) == md5.Size
}

// copyHashed copies src to dst while another goroutine computes the checksum. sum waits for the
// checksum. The caller must call it, even after an error.
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

// fill reads until the buffer is full. Unlike io.ReadFull it returns io.EOF for a short read, so
// that io.ErrUnexpectedEOF always means a truncated body.
func fill(src io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = src.Read(buffer[n:])
		n += more
	}
	return n, err
}
