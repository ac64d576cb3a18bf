// Package parts keeps programs of other publishers beside a project: Supabase Studio, Deno, the
// official Postgres. A program is added from an archive whose digest supabase/parts.lock records,
// and is unpacked once for each version and digest.
package parts

import (
	"cmp"
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
	"runtime"
	"strings"
)

// Part is a program in one version for one platform.
type Part struct {
	Name     string // such as studio
	Version  string // as its publisher writes it
	Platform string // such as linux-amd64; "" means this machine's
	// path of the program in the archive, with slashes; an archive without this file is refused
	Program string
	// folder of the archive that holds all files, such as package in npm's archives; "" means none
	Strip string
}

// Platform returns this machine's platform as Go and the release archives name it, such as
// linux-amd64 or darwin-arm64.
func Platform() string { return runtime.GOOS + "-" + runtime.GOARCH }

// withPlatform returns p with a platform.
func (p Part) withPlatform() Part {
	if p.Platform == "" {
		p.Platform = Platform()
	}
	return p
}

// check returns an error if a field could lead out of the folders that are named after it.
func (p Part) check() error {
	for _, field := range []string{p.Name, p.Version, p.Platform} {
		if field == "" || strings.HasPrefix(field, ".") || strings.Trim(field, wordBytes) != "" {
			return fmt.Errorf("%q is no name, version or platform of a part", field)
		}
	}
	return nil
}

const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+"

// Store is the folder of unpacked parts, and the lock file of a project.
type Store struct {
	Dir  string // of the parts; all projects of a user share it
	Lock string // path of parts.lock
	Most int64  // bytes of an unpacked part; 0 means 4 GiB
}

const (
	defaultMost = 4 << 30
	filesName   = "files"     // folder of the unpacked archive in a part's folder
	recordName  = "part.json" // beside it
)

// Added is a part of the lock file.
type Added struct {
	Part
	SHA256 string
	Folder string // of its files; "" if it is not unpacked on this machine
	Bytes  int64  // of its files
}

// record is the content of recordName. It is written last, so its folder is complete.
type record struct {
	Name, Version, Platform, SHA256 string
	Bytes                           int64
}

// folder returns the folder of a part.
func (s *Store) folder(p Part, sum string) string {
	return filepath.Join(s.Dir, fmt.Sprintf("%s-%s-%s-%.16s", p.Name, p.Version, p.Platform, sum))
}

// Locked returns p in the version that the lock file names, or unchanged if it names none.
func (s *Store) Locked(p Part) (Part, error) {
	lock, err := ReadLock(s.Lock)
	if err != nil {
		return p, err
	}
	if version := lock.Version(p.Name); version != "" {
		p.Version = version
	}
	return p, nil
}

// FindLocked returns the folder of a part's files in the version that the lock file names. A nil
// store has no parts.
func (s *Store) FindLocked(p Part) (folder string, ok bool, err error) {
	if s == nil {
		return "", false, nil
	}
	if p, err = s.Locked(p); err != nil {
		return "", false, err
	}
	return s.Find(p)
}

// Add unpacks the archive of a part and returns the folder of its files. The digest must be the one
// of the publisher and that of the lock file. The first Add of a version records its digest there.
func (s *Store) Add(ctx context.Context, p Part, from Source) (string, error) {
	p = p.withPlatform()
	if err := p.check(); err != nil {
		return "", err
	}
	lock, err := ReadLock(s.Lock)
	if err != nil {
		return "", err
	}
	if folder, ok, err := s.Find(p); ok || err != nil {
		return folder, err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(s.Dir, ".new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	sum, err := s.unpack(ctx, p, from, lock, work)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", p.Name, p.Version, err)
	}
	// another command may have recorded its part during the download
	if lock, err = ReadLock(s.Lock); err != nil {
		return "", err
	}
	if err := lock.Record(p, sum); err != nil {
		return "", err
	}
	return filepath.Join(s.folder(p, sum), filesName), nil
}

// unpack fetches the archive, checks it, and unpacks it into the part's folder. It returns the
// digest of the archive.
func (s *Store) unpack(ctx context.Context, p Part, from Source, lock *Lock, work string) (string, error) {
	archive, err := from(ctx, p, work)
	if err != nil {
		return "", err
	}
	f, err := os.Open(archive.File)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum, err := digest(f)
	if err != nil {
		return "", err
	}
	if archive.SHA256 != "" && archive.SHA256 != sum {
		return "", fmt.Errorf("the archive has the digest %s, but its publisher names %s; it was not unpacked",
			sum, archive.SHA256)
	}
	if err := lock.Check(p, sum); err != nil {
		return "", err
	}
	most := cmp.Or(s.Most, defaultMost)
	files := filepath.Join(work, "part", filesName)
	if err := os.MkdirAll(files, 0o755); err != nil {
		return "", err
	}
	bytes, err := unpack(ctx, f, files, p.Strip, most)
	if err != nil {
		return "", err
	}
	if err := checkProgram(files, p.Program); err != nil {
		return "", err
	}
	return sum, s.install(p, sum, bytes, filepath.Dir(files))
}

// install completes an unpacked part and moves it to its place.
func (s *Store) install(p Part, sum string, bytes int64, part string) error {
	text, err := json.Marshal(record{p.Name, p.Version, p.Platform, sum, bytes})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(part, recordName), text, 0o644); err != nil {
		return err
	}
	if err := os.Chmod(part, 0o755); err != nil {
		return err
	}
	to := s.folder(p, sum)
	if _, err := readRecord(to); err == nil {
		return nil // another process was faster
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(part, to)
}

// checkProgram returns an error unless the archive holds the program. It makes it executable,
// because npm's archives may have no such mode.
func checkProgram(files, program string) error {
	if program == "" {
		return nil
	}
	root, err := os.OpenRoot(files)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(program)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("the archive holds no program %s; it is not the archive of this part", program)
	}
	if err != nil {
		return err
	}
	return root.Chmod(program, 0o755)
}

// digest returns the SHA-256 of a file and sets it to its start.
func digest(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	_, err := f.Seek(0, io.SeekStart)
	return hex.EncodeToString(h.Sum(nil)), err
}

// Find returns the folder of a part's files. ok is false if the lock file does not name the part in
// this version, or if it is not unpacked on this machine.
func (s *Store) Find(p Part) (folder string, ok bool, err error) {
	p = p.withPlatform()
	lock, err := ReadLock(s.Lock)
	if err != nil {
		return "", false, err
	}
	sum, ok := lock.sum(p)
	if !ok {
		return "", false, nil
	}
	at := s.folder(p, sum)
	if _, err := readRecord(at); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	} else if err != nil {
		return "", false, err
	}
	return filepath.Join(at, filesName), true, nil
}

// readRecord reads the record of an unpacked part.
func readRecord(folder string) (r record, err error) {
	text, err := os.ReadFile(filepath.Join(folder, recordName))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// Remove deletes the files of a part from this machine. The lock file keeps its digest. It returns
// fs.ErrNotExist if the part is not there.
func (s *Store) Remove(p Part) error {
	files, ok, err := s.Find(p)
	if err != nil {
		return err
	}
	if !ok {
		return fs.ErrNotExist
	}
	at := filepath.Dir(files)
	if err := os.Remove(filepath.Join(at, recordName)); err != nil {
		return err // without it the folder counts as absent
	}
	return os.RemoveAll(at)
}

// Status returns the parts of the lock file for this platform.
func (s *Store) Status() ([]Added, error) {
	lock, err := ReadLock(s.Lock)
	if err != nil {
		return nil, err
	}
	var all []Added
	for _, e := range lock.entries {
		if e.Platform != Platform() {
			continue
		}
		a := Added{Part: e.Part, SHA256: e.sum}
		if r, err := readRecord(s.folder(e.Part, e.sum)); err == nil {
			a.Folder, a.Bytes = filepath.Join(s.folder(e.Part, e.sum), filesName), r.Bytes
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}
