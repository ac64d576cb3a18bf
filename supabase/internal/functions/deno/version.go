package deno

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/supabase/internal/functions/host"
)

// Version is a version of the functions from a bundle.
type Version struct{ set *set }

// Open returns the functions in TypeScript of a bundle, nil if it has none. name is the name of the
// folder into which the first call unpacks them.
func (s *Service) Open(bundle, id, name string) (*Version, error) {
	archive, err := zip.OpenReader(bundle)
	if errors.Is(err, zip.ErrFormat) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	if s.Runner != nil && archive.Comment == bundleComment {
		return nil, errors.New("functions in TypeScript are not deployed while edge_runtime.distribution is supabase: " +
			"it runs the files of supabase/functions")
	}
	if archive.Comment != bundleComment {
		return nil, nil
	}
	folder := filepath.Join(s.Versions, name)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		if err := unpack(&archive.Reader, folder); err != nil {
			return nil, fmt.Errorf("unpack version %s: %w", id, err)
		}
	} else if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, manifestFile))
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	files := filepath.Join(folder, filepath.FromSlash(filesFolder))
	absolute := func(name string) string {
		if name == "" {
			return ""
		}
		return filepath.Join(files, filepath.FromSlash(name))
	}
	v := &set{
		root: absolute(m.Root), files: files, cache: filepath.Join(folder, filepath.FromSlash(cacheFolder)), version: id, offline: true,
		registry: m.Registry, functions: map[string]Function{},
	}
	for _, f := range m.Functions {
		f.Entrypoint, f.ImportMap = absolute(f.Entrypoint), absolute(f.ImportMap)
		for i, pattern := range f.Static {
			f.Static[i] = absolute(pattern)
		}
		v.functions[f.Name] = f
	}
	return &Version{v}, nil
}

// unpack writes the files of an archive to a folder, which is complete or absent afterwards.
func unpack(archive *zip.Reader, folder string) error {
	part := folder + ".part"
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(part, 0o700)); err != nil {
		return err
	}
	for _, f := range archive.File {
		if err := unpackFile(f, part); err != nil {
			return errors.Join(err, os.RemoveAll(part))
		}
	}
	syscall.Sync() // one call for thousands of files
	return os.Rename(part, folder)
}

func unpackFile(f *zip.File, folder string) error {
	if !filepath.IsLocal(f.Name) {
		return fmt.Errorf("the archive has the path %q", f.Name)
	}
	name := filepath.Join(folder, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// List describes the functions of the version.
func (v *Version) List() (list []host.FunctionInfo) {
	if v == nil {
		return nil
	}
	return v.set.list()
}

// triesAtOnce is how many functions of a version start at the same time while it is tried.
const triesAtOnce = 2

// Try starts each function of a version once, beside those that serve. Its error says which ones do
// not start.
func (s *Service) Try(ctx context.Context, v *Version) error {
	names := make(chan Function)
	var mu sync.Mutex
	var problems []error
	var tries sync.WaitGroup
	for range triesAtOnce {
		tries.Go(func() {
			for f := range names {
				if err := s.tryOne(ctx, v, f); err != nil {
					mu.Lock()
					problems = append(problems, fmt.Errorf("function %s does not start: %w", f.Name, err))
					mu.Unlock()
				}
			}
		})
	}
	for _, f := range v.set.functions {
		names <- f
	}
	close(names)
	tries.Wait()
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// tryOne starts a function. While all processes are busy with calls, it waits.
func (s *Service) tryOne(ctx context.Context, v *Version, f Function) error {
	for {
		p, err := s.pool.acquire(ctx, processKey{v.set, f.Name}, f)
		if err == nil {
			s.pool.release(p)
			return nil
		}
		if !errors.Is(err, errBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Discard ends the processes of a version that does not serve.
func (s *Service) Discard(v *Version) { s.pool.drop(v.set) }

// Use switches to a version, or with nil to the functions of Root. Calls in flight end in the
// version in which they began.
func (s *Service) Use(v *Version) error {
	s.mu.RLock()
	next, old := s.base, s.set
	s.mu.RUnlock()
	if v != nil {
		next = v.set
	}
	if next == old {
		return nil
	}
	return s.use(next)
}

// Unusable makes the functions of a version that cannot be opened reply that they do not start.
func (s *Service) Unusable(id string, functions []host.FunctionInfo, problem error) error {
	v := &set{version: id, problem: problem, functions: map[string]Function{}}
	for _, f := range functions {
		if f.Language == language {
			v.functions[f.Name] = Function{Name: f.Name, NoVerifyJWT: !f.VerifyJWT}
		}
	}
	return s.use(v)
}

// Keep removes all folders of versions but these.
func (s *Service) Keep(names []string) error {
	entries, err := os.ReadDir(s.Versions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.Versions, e.Name())))
		}
	}
	return err
}
