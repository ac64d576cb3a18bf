package deploy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"daawo/supabase/internal/base/atomicfile"
)

// store keeps the bundles and their list on disk. The list is replaced atomically, after the bundle
// it names was written.
type store struct {
	dir      string
	mu       sync.Mutex
	Current  string    `json:"current"` // id of the version in use, "" for BuiltIn
	Last     int       `json:"last"`    // number of the newest version
	History  []string  `json:"history"` // ids in the order of their use, the newest last; "" for BuiltIn
	Versions []Version `json:"versions"`
}

// load reads the list of a folder.
func (s *store) load(dir string) error {
	s.dir = dir
	return readManifest(dir, s)
}

// file returns the file of a bundle.
func (s *store) file(id string) string { return filepath.Join(s.dir, "bundle-"+id) }

// hasProgram reports whether a bundle begins with a program, and not with an archive of functions
// in TypeScript.
func (s *store) hasProgram(id string) bool {
	f, err := os.Open(s.file(id))
	if err != nil {
		return true // its start reports the error
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err != nil || string(head) != "PK"
}

// find returns a version.
func (s *store) find(id string) (Version, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.Versions, func(v Version) bool { return v.ID == id }); i >= 0 {
		return s.Versions[i], true
	}
	return Version{}, false
}

// list returns the versions, the newest first.
func (s *store) list() []Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(s.Versions)
	for i := range list {
		list[i].Current = list[i].ID == s.Current
	}
	slices.Reverse(list)
	return list
}

// previous returns the version that was used before the current one, "" if there is none.
func (s *store) previous() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.History) - 1; i >= 0; i-- {
		id := s.History[i]
		switch {
		case id == s.Current:
		case id == "":
			return BuiltIn
		case slices.ContainsFunc(s.Versions, func(v Version) bool { return v.ID == id }):
			return id
		}
	}
	if s.Current != "" {
		return BuiltIn
	}
	return ""
}

// receive writes a bundle to the disk and gives it the next number.
func (s *store) receive(bundle io.Reader, most int64) (v Version, err error) {
	s.mu.Lock()
	s.Last++
	v = Version{ID: strconv.Itoa(s.Last), Deployed: time.Now().UTC().Truncate(time.Second)}
	s.mu.Unlock()
	if err := atomicfile.MkdirAll(s.dir, 0o700); err != nil {
		return v, err
	}
	name := s.file(v.ID)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700)
	if err != nil {
		return v, err
	}
	sum := sha256.New()
	v.Size, err = io.Copy(io.MultiWriter(f, sum), io.LimitReader(bundle, most+1))
	if v.Size > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	} else if v.Size == 0 && err == nil {
		err = errors.New("it is empty")
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return v, errors.Join(err, os.Remove(name))
	}
	v.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return v, nil
}

// add lists a version, makes it the current one and deletes old ones.
func (s *store) add(v Version) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Versions = append(s.Versions, v)
	return s.switchTo(v.ID)
}

// use makes a version the current one.
func (s *store) use(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.switchTo(id)
}

// switchTo writes the list with another current version. After an error the list is as it was.
func (s *store) switchTo(id string) error {
	was := store{Current: s.Current, History: s.History, Versions: s.Versions}
	s.Current = id
	s.History = append(slices.Clone(s.History), was.Current, id)
	s.History = s.History[max(0, len(s.History)-4*keepVersions):]
	var old []Version
	s.Versions = slices.Clone(s.Versions)
	for len(s.Versions) > keepVersions {
		i := slices.IndexFunc(s.Versions, func(v Version) bool { return v.ID != id })
		old = append(old, s.Versions[i])
		s.Versions = slices.Delete(s.Versions, i, i+1)
	}
	if err := s.write(); err != nil {
		s.Current, s.History, s.Versions = was.Current, was.History, was.Versions
		return err
	}
	for _, v := range old {
		_ = os.Remove(s.file(v.ID)) // a file that is left costs space only
	}
	return nil
}

// write replaces the list on disk.
func (s *store) write() error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(s.dir, manifestName), text, 0o600)
}
