package physical

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

	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/database/backup/codec"
	"daawo/supabase/internal/database/server"
)

// extract restores the cluster of a base backup into data, compares every file
// with Postgres' manifest, and gives the files to Postgres' user.
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
		_, err := io.Copy(io.Discard, in) // verify the final checksums
		return err
	})
	if err != nil {
		return err
	}
	for name := range want {
		return fmt.Errorf("%w: %s is missing from %s", codec.ErrDamaged, name, m.Base.Name)
	}
	return server.ChownTree(data, data)
}

// clusterFile is an entry of Postgres' backup manifest.
type clusterFile struct {
	Path     string
	Size     int64
	Checksum string
	Encoded  string `json:"Encoded-Path"` // for names that are not valid UTF-8
}

func clusterFiles(manifest []byte) (map[string]clusterFile, error) {
	var m struct{ Files []clusterFile }
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, fmt.Errorf("%w: Postgres' manifest: %w", codec.ErrDamaged, err)
	}
	files := make(map[string]clusterFile, len(m.Files))
	for _, f := range m.Files {
		if f.Encoded != "" {
			name, err := hex.DecodeString(f.Encoded)
			if err != nil {
				return nil, fmt.Errorf("%w: Postgres' manifest: %w", codec.ErrDamaged, err)
			}
			f.Path = string(name)
		}
		files[f.Path] = f
	}
	return files, nil
}

// untar unpacks a cluster below dir and removes each file that matches its
// manifest entry from want. want does not list the WAL in pg_wal, which has its
// own checksums.
func untar(ctx context.Context, in io.Reader, dir string, want map[string]clusterFile) error {
	root, err := os.OpenRoot(dir) // names cannot escape it
	if err != nil {
		return err
	}
	defer root.Close()
	t := tar.NewReader(codec.WithContext(ctx, in))
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
		return fmt.Errorf("%w: %s is not in Postgres' manifest", codec.ErrDamaged, name)
	}
	if w.Size != size || w.Checksum != hex.EncodeToString(sum.Sum(nil)) {
		return fmt.Errorf("%w: %s does not match Postgres' manifest", codec.ErrDamaged, name)
	}
	delete(want, name)
	return nil
}

// createdPaths lists the files and folders that a restore has created, in order.
type createdPaths []string

// undo removes the created files and folders. It keeps folders that are not
// empty.
func (p createdPaths) undo() (err error) {
	for _, name := range slices.Backward(p) {
		if e := os.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) && !errors.Is(e, syscall.ENOTEMPTY) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// mkdir creates a folder and its parents.
func (p *createdPaths) mkdir(dir string) error {
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
	return atomicfile.SyncDir(filepath.Dir(dir))
}

// restoreFile restores one file of a list to target. An existing file with the
// same content stays. An existing file with other content is an error.
func (r repository) restoreFile(ctx context.Context, f file, target string, p *createdPaths) error {
	if existing, err := os.Open(target); err == nil {
		defer existing.Close()
		if err := sameSum(existing, f.SHA256); err != nil {
			return fmt.Errorf("%s exists with different content: move it away", target)
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
			err = fmt.Errorf("%w: the file does not match the list", codec.ErrDamaged)
		}
		writeAttrs(tmp, f.Attrs)
		err = errors.Join(err, tmp.Chmod(f.Mode&fs.ModePerm), tmp.Sync(), tmp.Close(),
			os.Chtimes(tmp.Name(), f.ModTime, f.ModTime))
		if err != nil {
			return err
		}
		if err := os.Rename(tmp.Name(), target); err != nil {
			return err
		}
		*p = append(*p, target)
		return atomicfile.SyncDir(dir)
	})
}
