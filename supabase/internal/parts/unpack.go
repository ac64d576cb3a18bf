package parts

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxEntries is the most files, folders and links of an archive.
const maxEntries = 500_000

// Unpack unpacks an archive into an existing empty folder: a tar file that is compressed with gzip
// or Zstandard, or a ZIP file. strip is as in Part. It refuses paths and links that leave the
// folder, devices, and more than most bytes. It returns the number of bytes.
func Unpack(ctx context.Context, file, dir, strip string, most int64) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return unpack(ctx, f, dir, strip, most)
}

func unpack(ctx context.Context, f *os.File, dir, strip string, most int64) (int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	var magic [6]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil {
		return 0, fmt.Errorf("the archive is shorter than an archive can be: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	u := &unpacker{ctx: ctx, root: root, strip: strip, left: most, folders: map[string]bool{}}
	switch {
	case bytes.HasPrefix(magic[:], []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(256<<20))
		if err != nil {
			return 0, err
		}
		defer z.Close()
		err = u.tar(z)
		return most - u.left, err
	case bytes.HasPrefix(magic[:], []byte("\x1f\x8b")):
		z, err := gzip.NewReader(f)
		if err != nil {
			return 0, err
		}
		err = u.tar(z)
		return most - u.left, err
	case bytes.HasPrefix(magic[:], []byte("PK\x03\x04")):
		err := u.zip(f)
		return most - u.left, err
	}
	return 0, errors.New("the file is no archive: a tar file with gzip or Zstandard, or a ZIP file")
}

// unpacker writes the entries of an archive.
//
// No entry lies below a link, and the target of a link begins with as many .. as it has. So a link
// that stays in the folder by its text stays in it on disk.
type unpacker struct {
	ctx     context.Context
	root    *os.Root
	strip   string
	left    int64 // bytes
	entries int
	folders map[string]bool // that were created
}

func (u *unpacker) tar(r io.Reader) error {
	in := tar.NewReader(r)
	for {
		h, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name, err := u.next(h.Name)
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = u.mkdir(name)
		case tar.TypeReg:
			err = u.write(name, h.FileInfo().Mode(), in)
		case tar.TypeSymlink:
			err = u.symlink(name, h.Linkname)
		case tar.TypeLink:
			err = u.link(name, h.Linkname)
		default:
			err = fmt.Errorf("%q is a device or of another type that is refused", h.Name)
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacker) zip(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return err
	}
	for _, entry := range z.File {
		name, err := u.next(entry.Name)
		if err != nil {
			return err
		}
		switch mode := entry.Mode(); {
		case mode.IsDir():
			err = u.mkdir(name)
		case mode.IsRegular():
			var r io.ReadCloser
			if r, err = entry.Open(); err == nil {
				err = errors.Join(u.write(name, mode, r), r.Close())
			}
		default:
			err = fmt.Errorf("%q is a link or a device, which are refused in a ZIP file", entry.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next counts an entry and returns its path in the folder, "." for the folder itself.
func (u *unpacker) next(given string) (string, error) {
	if err := u.ctx.Err(); err != nil {
		return "", err
	}
	if u.entries++; u.entries > maxEntries {
		return "", fmt.Errorf("the archive has more than %d entries", maxEntries)
	}
	name, err := u.inside(given)
	if err != nil {
		return "", err
	}
	return name, u.checkParents(name)
}

// inside returns the path of an entry in the folder.
func (u *unpacker) inside(given string) (string, error) {
	name := path.Clean(strings.TrimSuffix(given, "/"))
	if given == "" || strings.ContainsAny(given, "\x00\\") || path.IsAbs(given) || !fs.ValidPath(name) ||
		hasDotDot(given) {
		return "", fmt.Errorf("%q leads out of the folder", given)
	}
	if u.strip == "" || name == "." {
		return name, nil
	}
	if name == u.strip {
		return ".", nil
	}
	rest, ok := strings.CutPrefix(name, u.strip+"/")
	if !ok {
		return "", fmt.Errorf("%q is not in the folder %s of the archive", given, u.strip)
	}
	return rest, nil
}

func hasDotDot(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// checkParents creates the folders above an entry. It returns an error if one is a link or a file.
func (u *unpacker) checkParents(name string) error {
	for i := range name {
		if name[i] != '/' {
			continue
		}
		if err := u.mkdir(name[:i]); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) mkdir(name string) error {
	if name == "." || u.folders[name] {
		return nil
	}
	if err := u.root.Mkdir(name, 0o755); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%q is a folder and something else", name)
	} else if err != nil {
		return err
	}
	u.folders[name] = true
	return u.root.Chmod(name, 0o755) // also with another umask
}

// write writes a file. It keeps only the permission to run it.
func (u *unpacker) write(name string, mode fs.FileMode, r io.Reader) error {
	perm := fs.FileMode(0o644)
	if mode&0o111 != 0 {
		perm = 0o755
	}
	f, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, u.left+1))
	u.left -= n
	if u.left < 0 {
		u.left = 0
		err = errors.Join(errors.New("the archive holds more bytes than allowed"), err)
	}
	return errors.Join(err, f.Chmod(perm), f.Close())
}

// symlink writes a link whose target is in the folder.
func (u *unpacker) symlink(name, target string) error {
	outside := fmt.Errorf("the link %q leads out of the folder: %q", name, target)
	if target == "" || path.IsAbs(target) || strings.ContainsAny(target, "\x00\\") {
		return outside
	}
	depth, descended := strings.Count(name, "/"), false
	for part := range strings.SplitSeq(target, "/") {
		switch {
		case part == "" || part == ".":
		case part != "..":
			descended = true
		case descended || depth == 0:
			return outside
		default:
			depth--
		}
	}
	return u.root.Symlink(target, name)
}

// link writes a hard link to a file of the archive.
func (u *unpacker) link(name, target string) error {
	old, err := u.inside(target)
	if err != nil {
		return err
	}
	if err := u.checkParents(old); err != nil {
		return err
	}
	info, err := u.root.Lstat(old)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is a hard link to something other than a file", name)
	}
	return u.root.Link(old, name)
}
