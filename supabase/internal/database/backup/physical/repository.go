package physical

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"daawo/supabase/internal/database/backup/codec"
)

// repository is a store with its encoding.
type repository struct {
	Store
	codec.Codec
}

// stored describes an object in the store.
type stored struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`   // in bytes
	SHA256 string `json:"sha256"` // of the stored bytes
}

// putStream stores the output of write under name and the codec's extension.
func (r repository) putStream(ctx context.Context, name string, write func(io.Writer) error) (stored, error) {
	o := stored{Name: name + r.Ext()}
	pr, pw := io.Pipe()
	sum := &codec.Counter{Hash: sha256.New()}
	go func() {
		w, err := r.Encode(io.MultiWriter(pw, sum))
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
	o.Size, o.SHA256 = sum.N, hex.EncodeToString(sum.Sum(nil))
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
	w, err := r.Encode(io.MultiWriter(spool, sum))
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
	name += "-" + hex.EncodeToString(sum.Sum(nil))[:sumChars] + r.Ext()
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
	plain, err := r.Decode(name, codec.WithContext(ctx, raw))
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
	n, err := io.Copy(h, codec.WithContext(ctx, raw))
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
	text, err := io.ReadAll(codec.WithContext(ctx, r))
	if err != nil {
		return nil, fmt.Errorf("read %s from %s: %w", name, store, err)
	}
	sum := sha256.Sum256(text)
	if !strings.HasSuffix(strings.TrimSuffix(name, ".json"), "-"+hex.EncodeToString(sum[:])[:sumChars]) {
		return nil, fmt.Errorf("%w: %s", codec.ErrDamaged, name)
	}
	return text, nil
}
