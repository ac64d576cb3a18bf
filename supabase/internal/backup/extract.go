package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"daawo/supabase/internal/postgres"
)

// extract restores the cluster of a base backup into data, compares every file
// with Postgres' own manifest, and hands it to Postgres' user.
func (r repository) extract(ctx context.Context, m Manifest, cluster []byte, data string) error {
	want, err := clusterFiles(cluster)
	if err != nil {
		return err
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	err = r.read(ctx, m.Base.Name, func(in io.Reader) error {
		if err := untar(ctx, in, data, want); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, in) // through the closing checksums
		return err
	})
	if err != nil {
		return err
	}
	for name := range want {
		return fmt.Errorf("%w: %s is missing from %s", ErrDamaged, name, m.Base.Name)
	}
	return postgres.ChownTree(data, data)
}

// clusterFile is a file in Postgres' backup manifest.
type clusterFile struct {
	Path     string
	Size     int64
	Checksum string
	Encoded  string `json:"Encoded-Path"` // for names that are no UTF-8
}

func clusterFiles(manifest []byte) (map[string]clusterFile, error) {
	var m struct{ Files []clusterFile }
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, fmt.Errorf("%w: Postgres' manifest: %w", ErrDamaged, err)
	}
	files := make(map[string]clusterFile, len(m.Files))
	for _, f := range m.Files {
		if f.Encoded != "" {
			name, err := hex.DecodeString(f.Encoded)
			if err != nil {
				return nil, fmt.Errorf("%w: Postgres' manifest: %w", ErrDamaged, err)
			}
			f.Path = string(name)
		}
		files[f.Path] = f
	}
	return files, nil
}

// untar unpacks a cluster below dir. It takes from want what it finds there as
// it should be. The log, in pg_wal, is not in want: it has sums of its own.
func untar(ctx context.Context, in io.Reader, dir string, want map[string]clusterFile) error {
	root, err := os.OpenRoot(dir) // no name leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	t := tar.NewReader(contextReader{ctx, in})
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		name := filepath.Clean(h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			if err := root.MkdirAll(name, 0o700); err != nil {
				return err
			}
		case tar.TypeReg:
			if err := untarFile(root, name, t, h.Size, want); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s is neither a file nor a folder", h.Name)
		}
	}
}

func untarFile(root *os.Root, name string, in io.Reader, size int64, want map[string]clusterFile) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), in)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	w, ok := want[name]
	if !ok {
		if strings.HasPrefix(name, "pg_wal/") {
			return nil
		}
		return fmt.Errorf("%w: %s is not in Postgres' manifest", ErrDamaged, name)
	}
	if w.Size != size || w.Checksum != hex.EncodeToString(sum.Sum(nil)) {
		return fmt.Errorf("%w: %s is not what Postgres' manifest says", ErrDamaged, name)
	}
	delete(want, name)
	return nil
}

// placed are the files and folders that a restore has made, in their order.
type placed []string

// undo removes them again. A folder in which somebody else has put something
// stays.
func (p placed) undo() (err error) {
	for _, name := range slices.Backward(p) {
		if e := os.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) && !errors.Is(e, syscall.ENOTEMPTY) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// mkdir makes a folder and those above it.
func (p *placed) mkdir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := p.mkdir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o750); err != nil {
		return err
	}
	*p = append(*p, dir)
	return syncDir(filepath.Dir(dir))
}

// restoreFile brings one file of a list to target. One that is there already,
// with the same content, stays; another is not overwritten.
func (r repository) restoreFile(ctx context.Context, f file, target string, p *placed) error {
	if there, err := os.Open(target); err == nil {
		defer there.Close()
		if err := sameSum(there, f.SHA256); err != nil {
			return fmt.Errorf("%s is there with another content: move it away", target)
		}
		return nil
	}
	dir := filepath.Dir(target)
	if err := p.mkdir(dir); err != nil {
		return err
	}
	return r.read(ctx, f.Object, func(in io.Reader) error {
		tmp, err := os.CreateTemp(dir, ".restore-")
		if err != nil {
			return err
		}
		defer os.Remove(tmp.Name())
		sum := sha256.New()
		_, err = io.Copy(io.MultiWriter(tmp, sum), in)
		if err == nil && hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
			err = fmt.Errorf("%w: the file is not what the list says", ErrDamaged)
		}
		writeAttrs(tmp, f.Attrs)
		err = errors.Join(err, tmp.Chmod(f.Mode&fs.ModePerm), tmp.Sync(), tmp.Close(), os.Chtimes(tmp.Name(), f.ModTime, f.ModTime))
		if err != nil {
			return err
		}
		if err := os.Rename(tmp.Name(), target); err != nil {
			return err
		}
		*p = append(*p, target)
		return syncDir(dir)
	})
}
