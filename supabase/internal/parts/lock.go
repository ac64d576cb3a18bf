package parts

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"daawo/supabase/internal/base/atomicfile"
)

// Lock is the content of supabase/parts.lock: one line with name, version, platform and digest for
// each added part. All clones of a project get the same programs.
type Lock struct {
	path    string
	entries []entry
}

type entry struct {
	Part
	sum string // SHA-256 of the archive, in hexadecimal
}

const (
	lockHeader = "# Added programs: name, version, platform, digest of the archive. Commit this file.\n"
	sumPrefix  = "sha256:"
)

// ReadLock reads a lock file. A file that does not exist is an empty one.
func ReadLock(path string) (*Lock, error) {
	l := &Lock{path: path}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	} else if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		e, err := readEntry(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		l.entries = append(l.entries, e)
	}
	return l, nil
}

func readEntry(line string) (entry, error) {
	words := strings.Fields(line)
	if len(words) != 4 {
		return entry{}, errors.New("a line has a name, a version, a platform and a digest")
	}
	e := entry{Part: Part{Name: words[0], Version: words[1], Platform: words[2]}}
	sum, ok := strings.CutPrefix(words[3], sumPrefix)
	if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != 32 || sum != strings.ToLower(sum) {
		return entry{}, fmt.Errorf("%q is no digest; it has the form sha256:HEX", words[3])
	}
	e.sum = sum
	return e, e.check()
}

// Version returns the version of a part, or "".
func (l *Lock) Version(name string) string {
	i := slices.IndexFunc(l.entries, func(e entry) bool { return e.Name == name })
	if i < 0 {
		return ""
	}
	return l.entries[i].Version
}

// sum returns the digest of a part.
func (l *Lock) sum(p Part) (string, bool) {
	i := slices.IndexFunc(l.entries, p.names)
	if i < 0 {
		return "", false
	}
	return l.entries[i].sum, true
}

// names reports whether an entry is about p.
func (p Part) names(e entry) bool {
	return e.Name == p.Name && e.Version == p.Version && e.Platform == p.Platform
}

// Check returns an error if the lock names another digest for the archive of p.
func (l *Lock) Check(p Part, sum string) error {
	p = p.withPlatform()
	if want, ok := l.sum(p); ok && want != sum {
		return fmt.Errorf("the archive has the digest %s, but %s names %s: it is another file than before and was "+
			"not unpacked; if you trust it, delete that line", sum, l.path, want)
	}
	return nil
}

// Record writes the digest of a part to the file. Lines about other versions of it are removed.
func (l *Lock) Record(p Part, sum string) error {
	p = p.withPlatform()
	if err := l.Check(p, sum); err != nil {
		return err
	}
	if _, ok := l.sum(p); ok {
		return nil
	}
	l.entries = slices.DeleteFunc(l.entries,
		func(e entry) bool { return e.Name == p.Name && e.Version != p.Version })
	l.entries = append(l.entries, entry{Part: Part{Name: p.Name, Version: p.Version, Platform: p.Platform}, sum: sum})
	lines := make([]string, len(l.entries))
	for i, e := range l.entries {
		lines[i] = fmt.Sprintf("%s %s %s %s%s\n", e.Name, e.Version, e.Platform, sumPrefix, e.sum)
	}
	slices.Sort(lines)
	return replaceFile(l.path, lockHeader+strings.Join(lines, ""))
}

// replaceFile writes a file as a whole.
func replaceFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, []byte(text), 0o644)
}
