// Package codec compresses, encrypts and checks what backups and exports consist of: zstd, and age
// if there are recipients.
package codec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// ErrDamaged: stored bytes differ from the bytes that were written.
var ErrDamaged = errors.New("damaged")

// Codec compresses data and, if there are recipients, encrypts it.
type Codec struct {
	Recipients []age.Recipient
	Identities []age.Identity
}

// Ext returns the extension of stored names.
func (c Codec) Ext() string {
	if len(c.Recipients) > 0 {
		return ".zst.age"
	}
	return ".zst"
}

// Encode returns a writer that writes encoded bytes to w. Closing it does not close w.
func (c Codec) Encode(w io.Writer) (io.WriteCloser, error) {
	var closers []io.Closer
	if len(c.Recipients) > 0 {
		a, err := age.Encrypt(w, c.Recipients...)
		if err != nil {
			return nil, fmt.Errorf("encrypt: %w", err)
		}
		w, closers = a, append(closers, a)
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	return writeChain{z, append(closers, z)}, nil
}

// Decode returns the plain content of the file of this name: encrypted if it ends in .age. All
// format errors are ErrDamaged.
func (c Codec) Decode(name string, raw io.Reader) (io.ReadCloser, error) {
	in := &source{r: raw}
	var r io.Reader = in
	if strings.HasSuffix(name, ".age") {
		if len(c.Identities) == 0 {
			return nil, errors.New("it is encrypted: name the file of its age secret key with --identity")
		}
		a, err := age.Decrypt(r, c.Identities...)
		if wrong := new(age.NoIdentityMatchError); errors.As(err, &wrong) {
			return nil, errors.New("it is encrypted for another recipient: name the file of its age secret key " +
				"with --identity")
		} else if err != nil {
			return nil, in.attribute(err)
		}
		r = a
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, in.attribute(err)
	}
	return decoded{z, in}, nil
}

// source records read errors of stored bytes.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// attribute returns the read error if there was one. Otherwise err means that the
// stored bytes are damaged.
func (s *source) attribute(err error) error {
	if s.err != nil {
		return s.err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// decoded is the plain content of a stored object.
type decoded struct {
	z  *zstd.Decoder
	in *source
}

func (o decoded) Read(p []byte) (int, error) {
	n, err := o.z.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = o.in.attribute(err)
	}
	return n, err
}

func (o decoded) Close() error {
	o.z.Close()
	return nil
}

// writeChain closes its closers in reverse order.
type writeChain struct {
	io.Writer
	closers []io.Closer
}

func (c writeChain) Close() (err error) {
	for i := len(c.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, c.closers[i].Close())
	}
	return err
}

// DecodeJSON reads one value and then the rest, to verify the final checksums.
func DecodeJSON(r io.Reader, v any) error {
	if err := json.NewDecoder(r).Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	_, err := io.Copy(io.Discard, r)
	return err
}

// Counter is a hash that also counts bytes.
type Counter struct {
	hash.Hash
	N int64 // bytes
}

func (c *Counter) Write(p []byte) (int, error) {
	c.N += int64(len(p))
	return c.Hash.Write(p)
}

// WithContext returns a reader that fails once the context has ended.
func WithContext(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}
