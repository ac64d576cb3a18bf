package server

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/database/extension"
)

// A prepared cluster is the data folder of a stopped server after initdb and the statements of a
// schema. The build makes it (command prepare), so that the first start of an installation only
// unpacks it.

// ClusterDir returns the folder of a platform's prepared cluster in a clone.
func ClusterDir(clone, platform string) string {
	return filepath.Join(clone, "bin", "cluster", platform)
}

// WithCluster returns the package with the prepared clusters of a folder, which may be missing.
func WithCluster(pkg, clusters fs.FS) fs.FS {
	if found, err := fs.Glob(clusters, clusterPattern); err != nil || len(found) == 0 {
		return pkg
	}
	return union{clusters, pkg}
}

const clusterPattern = "cluster-*.tar"

// ClusterFile returns the name of a package's cluster that is prepared with a schema. The key is a
// hash of the schema's text. The file holds a server's files as a tar archive.
func ClusterFile(pkg fs.FS, key string) (string, error) {
	name, err := packageName(pkg)
	return fmt.Sprintf("cluster-%s-%s-%s.tar", name, extension.Version(), key), err
}

// prepareCluster makes a data folder at dir from the package's prepared cluster. It reports whether
// there is one.
func prepareCluster(o Options, w owner, dir string) (bool, error) {
	if o.Prepared == "" {
		return false, nil
	}
	if _, other := o.Source.(*Home); other {
		return false, nil
	}
	name, err := ClusterFile(o.Source, o.Prepared)
	if err != nil {
		return false, err
	}
	f, err := o.Source.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer f.Close()
	if err := errors.Join(unpackCluster(f, w, dir), renewIdentity(dir)); err != nil {
		return false, err
	}
	if o.Volatile {
		return true, nil
	}
	return true, syncTree(dir)
}

// unpackCluster writes the files of an archive below dir, for Postgres' user only.
func unpackCluster(r io.Reader, w owner, dir string) error {
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("the name %q leads out of the archive", h.Name)
		}
		target := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.Mkdir(target, 0o700)
		} else {
			err = writeNew(target, archive)
		}
		if err := errors.Join(err, w.chown(target)); err != nil {
			return err
		}
	}
}

// writeNew writes a new private file.
func writeNew(name string, content io.Reader) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// Compact removes what a new cluster need not have from the files of a server that stops next:
// dead rows, and the log before the last checkpoint.
func (s *Server) Compact(ctx context.Context) error {
	for _, sql := range []string{"vacuum analyze", "checkpoint", "select pg_switch_wal()", "checkpoint"} {
		if err := s.withConn(ctx, func(c *pgconn.PgConn) error { return c.Exec(ctx, sql).Close() }); err != nil {
			return fmt.Errorf("compact the cluster: %w", err)
		}
	}
	return nil
}

// WriteCluster packs the cluster of a stopped server as a prepared one.
func WriteCluster(w io.Writer, data string) error {
	control, err := readControl(data)
	if err != nil {
		return err
	}
	if !control.shutDown() {
		return fmt.Errorf("pack the cluster: %s is not of a server that has shut down", data)
	}
	var names []string
	err = filepath.WalkDir(data, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(data, name)
		if err == nil && below != "." && !ofInstance(below, control.segment()) {
			names = append(names, below)
		}
		return err
	})
	if err != nil {
		return err
	}
	// Folders come first, in order. Files of the same name in the three databases are mostly equal:
	// side by side they compress well.
	folder := map[string]bool{}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(data, name))
		if err != nil {
			return err
		}
		folder[name] = info.IsDir()
	}
	slices.SortFunc(names, func(a, b string) int {
		switch {
		case folder[a] && folder[b]:
			return cmp.Compare(a, b)
		case folder[a] != folder[b]:
			if folder[a] {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(path.Base(a), path.Base(b)), cmp.Compare(a, b))
	})
	archive := tar.NewWriter(w)
	for _, name := range names {
		if err := addToCluster(archive, data, name); err != nil {
			return err
		}
	}
	return archive.Close()
}

// ofInstance reports whether a file of a stopped cluster is of one server's life: its statistics,
// its configuration, which each start writes, and the log except the segment of the last
// checkpoint.
func ofInstance(name, segment string) bool {
	dir, base := filepath.Split(name)
	switch dir {
	case "":
		return strings.HasPrefix(base, "daawo") || strings.HasPrefix(base, "postmaster.")
	case "pg_stat/":
		return true
	case "pg_wal/":
		return base != segment && len(base) == len(segment) // its folders stay
	}
	return false
}

func addToCluster(archive *tar.Writer, data, name string) error {
	file := filepath.Join(data, name)
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	h := &tar.Header{Name: filepath.ToSlash(name), Typeflag: tar.TypeReg, Size: info.Size(), Mode: 0o600}
	if info.IsDir() {
		h.Typeflag, h.Size, h.Mode = tar.TypeDir, 0, 0o700
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("pack the cluster: %s is neither a file nor a folder", name)
	}
	if err := archive.WriteHeader(h); err != nil || info.IsDir() {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(archive, f)
	return err
}
