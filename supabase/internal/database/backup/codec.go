package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"syscall"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// ErrDamaged: stored bytes differ from the bytes that were written.
var ErrDamaged = errors.New("damaged")

// codec compresses data and, if there are recipients, encrypts it.
type codec struct {
	recipients []age.Recipient
	identities []age.Identity
}

// ext returns the extension of stored names.
func (s codec) ext() string {
	if len(s.recipients) > 0 {
		return ".zst.age"
	}
	return ".zst"
}

// encode returns a writer that writes encoded bytes to w. Closing it does not
// close w.
func (s codec) encode(w io.Writer) (io.WriteCloser, error) {
	var closers []io.Closer
	if len(s.recipients) > 0 {
		a, err := age.Encrypt(w, s.recipients...)
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

// decode returns the plain content of the object that is stored under name. All
// format errors are ErrDamaged.
func (s codec) decode(name string, raw io.Reader) (io.ReadCloser, error) {
	in := &source{r: raw}
	var r io.Reader = in
	if strings.HasSuffix(name, ".age") {
		if len(s.identities) == 0 {
			return nil, errors.New("it is encrypted: name the file of its age secret key with --identity")
		}
		a, err := age.Decrypt(r, s.identities...)
		if wrong := new(age.NoIdentityMatchError); errors.As(err, &wrong) {
			return nil, errors.New("it is encrypted for another recipient: name the file of its age secret key with --identity")
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

// repository is a store with its encoding.
type repository struct {
	Store
	codec
}

// stored describes an object in the store.
type stored struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`   // in bytes
	SHA256 string `json:"sha256"` // of the stored bytes
}

// putStream stores the output of write under name and the codec's extension.
func (r repository) putStream(ctx context.Context, name string, write func(io.Writer) error) (stored, error) {
	o := stored{Name: name + r.ext()}
	pr, pw := io.Pipe()
	sum := &counter{Hash: sha256.New()}
	go func() {
		w, err := r.encode(io.MultiWriter(pw, sum))
		if err == nil {
			err = write(w)
			err = errors.Join(err, w.Close())
		}
		pw.CloseWithError(err)
	}()
	err := r.Put(ctx, o.Name, pr)
	pr.CloseWithError(errors.New("the store stopped reading")) // unblocks the writer if Put failed
	if err != nil {
		return o, storeError(o.Name, r, err)
	}
	o.Size, o.SHA256 = sum.n, hex.EncodeToString(sum.Sum(nil))
	return o, nil
}

// storeError explains why a store rejected a name.
func storeError(name string, store Store, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%s is full: free some space there, or choose another place: %w", store, err)
	}
	return fmt.Errorf("store %s in %s: %w", name, store, err)
}

// sumChars is the number of checksum characters in a stored name.
const sumChars = 16

// putSummed stores the output of write under a name with the checksum of the
// stored bytes, so damage can be detected without the key.
func (r repository) putSummed(ctx context.Context, name string, write func(io.Writer) error) (string, error) {
	spool, err := os.CreateTemp("", "daawo-backup-")
	if err != nil {
		return "", err
	}
	defer spool.Close()
	// Unlink the file now, so that its space is freed however this process ends.
	if err := os.Remove(spool.Name()); err != nil {
		return "", err
	}
	sum := sha256.New()
	w, err := r.encode(io.MultiWriter(spool, sum))
	if err == nil {
		err = write(w)
		err = errors.Join(err, w.Close())
	}
	if err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", fmt.Errorf("prepare %s: %w", name, err)
	}
	name += "-" + hex.EncodeToString(sum.Sum(nil))[:sumChars] + r.ext()
	if err := r.Put(ctx, name, spool); err != nil {
		return "", storeError(name, r, err)
	}
	return name, nil
}

// plainName removes checksum and extension from a name that putSummed made.
func plainName(name string) (plain, sum string) {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".age"), ".zst")
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return name, ""
}

// read calls f with the plain bytes of a stored object.
func (r repository) read(ctx context.Context, name string, f func(io.Reader) error) error {
	raw, err := r.Open(ctx, name)
	if err != nil {
		return fmt.Errorf("read %s from %s: %w", name, r, err)
	}
	defer raw.Close()
	plain, err := r.decode(name, contextReader{ctx, raw})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer plain.Close()
	if err := f(plain); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// sumOf reads a stored object and returns its size and checksum.
func (r repository) sumOf(ctx context.Context, name string) (int64, string, error) {
	raw, err := r.Open(ctx, name)
	if err != nil {
		return 0, "", err
	}
	defer raw.Close()
	h := sha256.New()
	n, err := io.Copy(h, contextReader{ctx, raw})
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// putClear stores a small text unencrypted, with its checksum in its name.
func putClear(ctx context.Context, store Store, name, ext string, text []byte) error {
	sum := sha256.Sum256(text)
	name += "-" + hex.EncodeToString(sum[:])[:sumChars] + ext
	if err := store.Put(ctx, name, bytes.NewReader(text)); err != nil {
		return storeError(name, store, err)
	}
	return nil
}

// readClear reads what putClear stored.
func readClear(ctx context.Context, store Store, name string) ([]byte, error) {
	r, err := store.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read %s from %s: %w", name, store, err)
	}
	defer r.Close()
	text, err := io.ReadAll(contextReader{ctx, r})
	if err != nil {
		return nil, fmt.Errorf("read %s from %s: %w", name, store, err)
	}
	sum := sha256.Sum256(text)
	if !strings.HasSuffix(strings.TrimSuffix(name, ".json"), "-"+hex.EncodeToString(sum[:])[:sumChars]) {
		return nil, fmt.Errorf("%w: %s", ErrDamaged, name)
	}
	return text, nil
}

// counter is a hash that also counts bytes.
type counter struct {
	hash.Hash
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.Hash.Write(p)
}
