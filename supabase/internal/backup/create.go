package backup

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

	"daawo/supabase/internal/postgres"

	"github.com/jackc/pgx/v5"
)

// Manifest describes a good backup. It holds nothing secret and lies in the
// store in the clear.
type Manifest struct {
	Format int       `json:"format"`
	ID     string    `json:"id"`
	Begin  time.Time `json:"begin"` // by the database's clock
	End    time.Time `json:"end"`   // restoring can go to this moment and, with the log, beyond
	System string    `json:"system"`
	Server string    `json:"server"` // Postgres' version
	baseInfo
	Base    stored `json:"base"`
	Details stored `json:"details"`
	Lists   string `json:"list"` // the list of files
}

// format is raised when older programs could not read a backup.
const format = 1

// details are what a proof compares with. They name tables and files, and are
// sealed as the data is.
type details struct {
	Cluster json.RawMessage  `json:"cluster"` // Postgres' own manifest
	Tables  map[string]int64 `json:"tables"`  // rows, as restored
}

// Backup makes a base backup, restores it from the store to look through it,
// and only then declares it good by writing its manifest.
func (s *Service) Backup(ctx context.Context) (m Manifest, err error) {
	m = Manifest{Format: format}
	unlock, err := s.exclusive(ctx)
	if err != nil {
		return m, fmt.Errorf("backup: %w", err)
	}
	defer unlock()
	s.tidy(ctx)
	if err := s.trees.reload(ctx); err != nil { // another process may have deleted some
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

	// Files are copied before the database, and again after: whatever the
	// database knows at any moment in between has its file.
	earlier, err := s.trees.copy(ctx)
	if err != nil {
		return m, err
	}
	before, err := countRows(ctx, conn)
	if err != nil {
		return m, err
	}
	churn, err := s.churn(ctx)
	if err != nil {
		return m, err
	}
	var d details
	m.Base, err = s.repo.putStream(ctx, dir+"base.tar", func(w io.Writer) (err error) {
		m.baseInfo, d.Cluster, err = baseBackup(ctx, conn, "daawo "+m.ID, w, func(done, total int64) { s.opt.Progress("database", done, total) })
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
	s.opt.Progress("proof", 0, 1)
	if d.Tables, err = s.prove(ctx, m, d.Cluster, files); err != nil {
		return m, fmt.Errorf("the backup is not proved: %w", err)
	}
	if err := s.compareCounts(ctx, churn, before, after, d.Tables); err != nil {
		return m, err
	}
	s.opt.Progress("proof", 1, 1)
	m.Details, err = s.repo.putStream(ctx, dir+"details.json", func(w io.Writer) error { return json.NewEncoder(w).Encode(d) })
	if err != nil {
		return m, err
	}
	return m, putManifest(ctx, s.repo.Store, m)
}

// listFiles copies the files again and stores their list. Those of earlier that
// are gone by now are in it, too: the copy of the database may know them still.
func (s *Service) listFiles(ctx context.Context, m *Manifest, earlier []file) ([]file, error) {
	s.listing.Lock() // lists are in the order of their times
	defer s.listing.Unlock()
	now := time.Now()
	files, err := s.trees.copy(ctx)
	if err != nil {
		return nil, err
	}
	files = joined(files, earlier)
	m.Lists, err = s.trees.putList(ctx, now, files, true)
	return files, err
}

// identify notes when and of what a backup is.
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

// prove restores a backup from the store and looks through all of it.
func (s *Service) prove(ctx context.Context, m Manifest, cluster []byte, files []file) (map[string]int64, error) {
	dir, err := s.scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := s.roomFor(cluster, dir); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := s.repo.extract(ctx, m, cluster, data); err != nil {
		return nil, err
	}
	if err := s.trees.proveFresh(ctx, files); err != nil {
		return nil, err
	}
	server, err := postgres.Start(ctx, postgres.Options{Source: s.opt.Package, Data: data, Log: s.opt.Log, Settings: quiet})
	if err != nil {
		return nil, err
	}
	counts, err := examine(ctx, server.URL(postgres.Superuser))
	return counts, errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
}

// logRoom is what the log of a cluster that is only looked at takes at most, in bytes.
const logRoom = 64 << 20

// roomFor refuses a proof that would leave the disk of dir, which is that of the database, so little room that writes were
// refused. A backup must not be what stops the reports.
func (s *Service) roomFor(cluster []byte, dir string) error {
	files, err := clusterFiles(cluster)
	if err != nil {
		return err
	}
	needed := int64(logRoom)
	for _, f := range files {
		needed += f.Size
	}
	spare, err := s.spare(dir)
	if err == nil && spare < needed {
		err = fmt.Errorf("%w: a backup is restored to %s before it is called good; that takes %d MB, and only %d MB may be used: free some space",
			postgres.ErrDiskFull, s.opt.StateDir, needed>>20, spare>>20)
	}
	return err
}

// quiet are settings for a cluster that is only looked at.
var quiet = map[string]string{"autovacuum": "off", "max_connections": "10", "shared_buffers": "16MB", "archive_mode": "off"}

// putManifest makes a backup count.
func putManifest(ctx context.Context, store Store, m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return putClear(ctx, store, "base/"+m.ID+"/manifest", ".json", text)
}

// List returns the good backups of a store, oldest first, those of an earlier
// timeline before those of a later. Which is older, their places in the log say:
// the clock may have been ahead for one of them. Of manifests that are damaged it returns
// ErrDamaged, together with the others.
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
		case errors.Is(err, ErrDamaged):
			damage = errors.Join(damage, err)
		case errors.Is(err, fs.ErrNotExist): // pruned meanwhile
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
		return m, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	if m.Format > format {
		return m, fmt.Errorf("backup %s was made by a newer program: use that one", m.ID)
	}
	return m, nil
}

// remove deletes everything under a prefix.
func (s *Service) remove(ctx context.Context, prefix string) error {
	names, err := s.repo.List(ctx, prefix)
	for _, name := range names {
		err = errors.Join(err, s.repo.Delete(ctx, name))
	}
	return err
}
