package physical

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/database/backup/codec"
	"daawo/supabase/internal/database/server"

	"github.com/jackc/pgx/v5"
)

// Manifest describes a good backup. It holds no secrets and is stored
// unencrypted.
type Manifest struct {
	Format int       `json:"format"`
	ID     string    `json:"id"`
	Begin  time.Time `json:"begin"` // by the database's clock
	End    time.Time `json:"end"`   // the earliest moment that a restore can reach; WAL allows later ones
	System string    `json:"system"`
	Server string    `json:"server"` // Postgres' version
	baseInfo
	Base    stored `json:"base"`
	Details stored `json:"details"`
	Lists   string `json:"list"` // the list of files

	Archived bool `json:"archived,omitempty"` // the WAL that follows is stored as well
}

// format increases when older programs could not read a backup.
const format = 1

// details are the reference values of the test restore. They name tables and
// files, so they are encrypted like the data.
type details struct {
	Cluster json.RawMessage  `json:"cluster"` // Postgres' own manifest
	Tables  map[string]int64 `json:"tables"`  // rows, as restored
}

// Backup makes a base backup, restores it from the store for a check, and then
// marks it as good by writing its manifest.
func (s *Service) Backup(ctx context.Context) (m Manifest, err error) {
	m = Manifest{Format: format, Archived: s.opt.Archive != ""}
	unlock, err := s.exclusive(ctx)
	if err != nil {
		return m, fmt.Errorf("backup: %w", err)
	}
	defer unlock()
	s.removeLeftovers(ctx)
	if err := s.trees.reload(ctx); err != nil { // another process may have deleted objects
		return m, fmt.Errorf("backup: %w", err)
	}
	conn := s.opt.URL
	if err := s.identify(ctx, &m); err != nil {
		return m, fmt.Errorf("backup: %w", err)
	}
	m.ID = m.Begin.UTC().Format("20060102T150405Z")
	dir := "base/" + m.ID + "/"
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("backup: %w", err), s.remove(context.WithoutCancel(ctx), dir))
		}
	}()

	// Copy the files before and after the database, so that every row in the
	// copy of the database has its file.
	earlier, _, err := s.trees.copy(ctx)
	if err != nil {
		return m, err
	}
	before, err := countRows(ctx, conn)
	if err != nil {
		return m, err
	}
	changes, err := s.changeCounts(ctx)
	if err != nil {
		return m, err
	}
	var d details
	m.Base, err = s.repo.putStream(ctx, dir+"base.tar", func(w io.Writer) (err error) {
		m.baseInfo, d.Cluster, err = baseBackup(ctx, conn, "daawo "+m.ID, w,
			func(done, total int64) { s.opt.Progress("database", done, total) })
		return err
	})
	if err != nil {
		return m, err
	}
	m.End, err = value[time.Time](ctx, conn, `select clock_timestamp()`)
	after, err2 := countRows(ctx, conn)
	if err := errors.Join(err, err2); err != nil {
		return m, err
	}
	files, err := s.listFiles(ctx, &m, earlier)
	if err != nil {
		return m, err
	}
	s.opt.Progress("test restore", 0, 1)
	if d.Tables, err = s.testRestore(ctx, m, d.Cluster, files); err != nil {
		return m, fmt.Errorf("test restore: %w", err)
	}
	if err := s.compareCounts(ctx, changes, before, after, d.Tables); err != nil {
		return m, err
	}
	s.opt.Progress("test restore", 1, 1)
	m.Details, err = s.repo.putStream(ctx, dir+"details.json",
		func(w io.Writer) error { return json.NewEncoder(w).Encode(d) })
	if err != nil {
		return m, err
	}
	return m, putManifest(ctx, s.repo.Store, m)
}

// listFiles copies the files again and stores their list. The list includes files
// of earlier that are deleted now, because the copy of the database may refer to
// them.
func (s *Service) listFiles(ctx context.Context, m *Manifest, earlier []file) ([]file, error) {
	s.listing.Lock() // lists must be stored in the order of their times
	defer s.listing.Unlock()
	now := time.Now()
	files, _, err := s.trees.copy(ctx)
	if err != nil {
		return nil, err
	}
	files = merge(files, earlier)
	m.Lists, err = s.trees.putList(ctx, now, files, true)
	return files, err
}

// identify sets the time and the system of a backup.
func (s *Service) identify(ctx context.Context, m *Manifest) error {
	conn, err := pgx.Connect(ctx, s.opt.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return conn.QueryRow(ctx, `
		select clock_timestamp(), system_identifier::text, current_setting('server_version')
		from pg_control_system()`).Scan(&m.Begin, &m.System, &m.Server)
}

// testRestore restores a backup from the store, checks all of it and returns the
// row counts.
func (s *Service) testRestore(ctx context.Context, m Manifest, cluster []byte, files []file) (map[string]int64, error) {
	dir, err := s.testRestoreDir()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := s.checkSpace(cluster, dir); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := s.repo.extract(ctx, m, cluster, data); err != nil {
		return nil, err
	}
	if err := s.trees.checkFresh(ctx, files); err != nil {
		return nil, err
	}
	pg, err := server.Start(ctx,
		server.Options{Source: s.opt.Package, Data: data, Log: s.opt.Log, Settings: testSettings})
	if err != nil {
		return nil, err
	}
	counts, err := examine(ctx, pg.URL(server.Superuser))
	return counts, errors.Join(err, pg.Stop(context.WithoutCancel(ctx)))
}

// testLogSize is the most WAL that the cluster of a test restore writes, in bytes.
const testLogSize = 64 << 20

// checkSpace returns an error if a test restore would leave too little disk space in dir, which is
// on the database's disk. A backup must not make the database refuse writes.
func (s *Service) checkSpace(cluster []byte, dir string) error {
	files, err := clusterFiles(cluster)
	if err != nil {
		return err
	}
	needed := int64(testLogSize)
	for _, f := range files {
		needed += f.Size
	}
	available, err := s.writable(dir)
	if err == nil && available < needed {
		err = fmt.Errorf("%w: the test restore of a backup to %s needs %d MB, but only %d MB are available: free "+
			"some space",
			server.ErrDiskFull, s.opt.StateDir, needed>>20, available>>20)
	}
	return err
}

// testSettings are settings for the cluster of a test restore.
var testSettings = map[string]string{"autovacuum": "off", "max_connections": "10", "shared_buffers": "16MB",
	"archive_mode": "off"}

// putManifest stores the manifest, which marks a backup as good.
func putManifest(ctx context.Context, store Store, m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return putClear(ctx, store, "base/"+m.ID+"/manifest", ".json", text)
}

// List returns the good backups of a store, oldest first, ordered by timeline and
// WAL position: clocks can be wrong. If manifests are damaged, it returns
// codec.ErrDamaged together with the other backups.
func List(ctx context.Context, store Store) (all []Manifest, damage error) {
	names, err := store.List(ctx, "base/")
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", store, err)
	}
	for _, name := range names {
		base := path.Base(name)
		if !strings.HasPrefix(base, "manifest-") {
			continue
		}
		m, err := readManifest(ctx, store, name)
		switch {
		case errors.Is(err, codec.ErrDamaged):
			damage = errors.Join(damage, err)
		case errors.Is(err, fs.ErrNotExist): // just pruned
		case err != nil:
			return nil, err
		default:
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b Manifest) int {
		return cmp.Or(cmp.Compare(a.timeline(), b.timeline()), cmp.Compare(a.stop(), b.stop()))
	})
	return all, damage
}

func readManifest(ctx context.Context, store Store, name string) (m Manifest, err error) {
	text, err := readClear(ctx, store, name)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%w: %s: %w", codec.ErrDamaged, name, err)
	}
	if m.Format > format {
		return m, fmt.Errorf("backup %s has a newer format: use the release that made it", m.ID)
	}
	return m, nil
}

// remove deletes all objects with a prefix.
func (s *Service) remove(ctx context.Context, prefix string) error {
	names, err := s.repo.List(ctx, prefix)
	for _, name := range names {
		err = errors.Join(err, s.repo.Delete(ctx, name))
	}
	return err
}
