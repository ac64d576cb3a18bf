package physical

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"daawo/supabase/internal/base/atomicfile"
)

// Tree is a folder or a file of the installation outside of its database, such
// as the files of storage or the keys.
type Tree struct {
	Name string // in the backup, such as "storage"
	Path string

	// Removed, if set, is the folder to which the owner of a folder moves the files that it
	// deletes, with the same layout. They stay there until a list in the store names them, so that
	// each moment at which they existed can be restored.
	Removed string
}

// file describes one file of a tree at a time.
type file struct {
	Tree    string            `json:"tree"`
	Path    string            `json:"path"` // within the tree; "" for a tree that is a file
	Mode    fs.FileMode       `json:"mode"`
	Size    int64             `json:"size"`
	ModTime time.Time         `json:"mtime"`
	SHA256  string            `json:"sha256"`
	Attrs   map[string]string `json:"attrs,omitempty"` // extended attributes
	Object  string            `json:"object"`          // in the store
}

// trees copies the files of trees into a repository. It stores each content once.
type trees struct {
	repo  repository
	salt  []byte
	all   []Tree
	clock func() time.Time // time.Now

	mu     sync.Mutex
	known  map[string]file   // by the path in its tree's folder, as last read
	stored map[string]string // keyed hash of the content → object
	fresh  map[string]bool   // objects stored since the last test restore
	last   string            // JSON of the newest list's files
	newest string            // the time that orders the newest list in the store
}

// openTrees prepares copying. salt keys the hashes that name contents, so a
// reader of the store cannot test whether it holds a known file. stateDir holds
// the salt.
func openTrees(ctx context.Context, repo repository, stateDir string, all []Tree) (*trees, error) {
	salt, err := loadSalt(stateDir)
	if err != nil {
		return nil, err
	}
	t := &trees{repo: repo, salt: salt, all: all, clock: time.Now, known: map[string]file{},
		stored: map[string]string{}, fresh: map[string]bool{}}
	return t, t.reload(ctx)
}

// reload reads which objects the store has.
func (t *trees) reload(ctx context.Context) error {
	names, err := t.repo.List(ctx, "files/")
	if err != nil {
		return fmt.Errorf("list %s: %w", t.repo, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.stored)
	clear(t.known)
	for _, name := range names {
		if strings.HasSuffix(name, t.repo.Ext()) { // skip objects with another encryption
			plain, _ := plainName(name)
			t.stored[plain] = name
		}
	}
	return t.findNewest(ctx)
}

func loadSalt(dir string) ([]byte, error) {
	name := filepath.Join(dir, "backup-salt")
	salt, err := os.ReadFile(name)
	if err == nil && len(salt) == 32 {
		return salt, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	salt = make([]byte, 32)
	rand.Read(salt)
	if err := atomicfile.MkdirAll(dir, 0o755); err != nil { // Postgres must enter the folder; the salt has its own mode
		return nil, err
	}
	return salt, os.WriteFile(name, salt, 0o600)
}

// copy stores new files and returns the list of all files, with the paths of those in the folders
// of removed files. It skips files that are deleted while it runs.
func (t *trees) copy(ctx context.Context) (files []file, removed []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tree := range t.all {
		var own, old []file
		own, _, err = t.copyFolder(ctx, tree, tree.Path)
		if err == nil && tree.Removed != "" { // afterwards, to find files that are moved now
			var paths []string
			old, paths, err = t.copyFolder(ctx, tree, tree.Removed)
			removed = append(removed, paths...)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("back up %s: %w", tree.Path, err)
		}
		if len(old) > 0 {
			own = merge(own, old)
		}
		// One order, so that a list stays the same while a file is moved.
		slices.SortFunc(own, func(a, b file) int { return strings.Compare(a.Path, b.Path) })
		files = append(files, own...)
	}
	return files, removed, nil
}

// copyFolder stores the new files of a tree in root, and returns all files and their paths.
func (t *trees) copyFolder(ctx context.Context, tree Tree, root string) (files []file, paths []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(rel, ".") && rel != "." { // such as .incoming: incomplete uploads
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := t.copyFile(ctx, tree, path, filepath.ToSlash(strings.TrimPrefix(rel, ".")))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			files, paths = append(files, f), append(paths, path)
		}
		return err
	})
	return files, paths, err
}

func (t *trees) copyFile(ctx context.Context, tree Tree, path, rel string) (file, error) {
	in, err := os.Open(path)
	if err != nil {
		return file{}, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return file{}, err
	}
	place := filepath.Join(tree.Path, rel)
	f := file{Tree: tree.Name, Path: rel, Mode: info.Mode().Perm(), Size: info.Size(), ModTime: info.ModTime(),
		Attrs: readAttrs(in)}
	if old, ok := t.known[place]; ok && old.Size == f.Size && old.ModTime.Equal(f.ModTime) {
		f.SHA256, f.Object = old.SHA256, old.Object
		return f, nil
	}
	// A file may grow while it is read, such as a resumed upload. Take the
	// bytes up to its size now; the next copy takes the rest.
	sum, keyed := sha256.New(), hmac.New(sha256.New, t.salt)
	if _, err := io.Copy(io.MultiWriter(sum, keyed), io.LimitReader(in, f.Size)); err != nil {
		return file{}, err
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	name := "files/" + hex.EncodeToString(keyed.Sum(nil))[:40]
	if f.Object = t.stored[name]; f.Object == "" {
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return file{}, err
		}
		f.Object, err = t.repo.putSummed(ctx, name, func(w io.Writer) error {
			again := sha256.New()
			_, err := io.Copy(io.MultiWriter(w, again), io.LimitReader(in, f.Size))
			if err == nil && hex.EncodeToString(again.Sum(nil)) != f.SHA256 {
				err = fmt.Errorf("%s changed while it was read", path)
			}
			return err
		})
		if err != nil {
			return file{}, err
		}
		t.stored[name], t.fresh[f.Object] = f.Object, true
	}
	t.known[place] = f
	return f, nil
}

// sync stores new files and, if anything has changed, a new list. Then it deletes the removed files
// that the list names.
func (t *trees) sync(ctx context.Context, now time.Time) error {
	files, removed, err := t.copy(ctx)
	if err != nil {
		return err
	}
	if _, err = t.putList(ctx, now, files, false); err != nil {
		return err
	}
	for _, path := range removed {
		err = errors.Join(err, t.sweep(path))
	}
	return err
}

// sweep deletes a removed file, and the folders that become empty.
func (t *trees) sweep(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(path); !slices.ContainsFunc(t.all, func(tree Tree) bool { return tree.Removed == dir }); {
		if os.Remove(dir) != nil {
			break // it holds other files
		}
		dir = filepath.Dir(dir)
	}
	return nil
}
