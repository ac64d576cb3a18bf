package logical

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/backup/codec"

	"filippo.io/age"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ImportOptions configure an import.
type ImportOptions struct {
	URL        string // of a superuser
	Files      Files
	Identities []age.Identity
	Encrypted  bool
	Protected  []string // tables besides auth.users whose rows count as user content
	Replace    bool     // existing user content may be replaced
	Progress   func(step string, done, total int64)
}

// Import replaces an installation's content with the content of an export, in one transaction.
// Before the commit it compares rows, checksums and counts with the export. If they differ, nothing
// changes.
func Import(ctx context.Context, o ImportOptions, r io.Reader) (e Exported, err error) {
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	name := "export.zst"
	if o.Encrypted {
		name += ".age"
	}
	plain, err := codec.Codec{Identities: o.Identities}.Decode(name, r)
	if err != nil {
		return e, fmt.Errorf("import: %w", err)
	}
	defer plain.Close()
	conn, err := pgx.Connect(ctx, o.URL)
	if err != nil {
		return e, fmt.Errorf("import: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	m := &importer{ImportOptions: o, tables: map[string]tableContent{}, files: map[string]fileContent{}}
	complete := false
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		err := m.all(ctx, tx, plain)
		complete = err == nil
		return err
	})
	if err != nil && complete && !notCommitted(err) {
		// Keep the files, because committed rows need them. If the transaction
		// was not committed, storage deletes the unused files later.
		return e, fmt.Errorf("import: the result of the commit is unknown because the connection broke: check "+
			"whether the content exists: %w", err)
	}
	if err != nil {
		// The written files belong to no row: delete them.
		return e, errors.Join(fmt.Errorf("import: %w", err),
			o.Files.Delete(context.WithoutCancel(ctx), subtract(m.written, m.before)...))
	}
	if err := o.Files.Delete(ctx, subtract(m.before, m.written)...); err != nil {
		return m.done, fmt.Errorf("import: all content is imported, but unused old files were not deleted: %w", err)
	}
	return m.done, nil
}

// notCommitted reports whether the server confirmed that it did not commit. A
// shutdown or a broken connection leaves that unknown.
func notCommitted(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return !strings.HasPrefix(pg.Code, "08") && !strings.HasPrefix(pg.Code, "57P0")
	}
	return errors.Is(err, pgx.ErrTxCommitRollback)
}

type importer struct {
	ImportOptions
	tables  map[string]tableContent // as read from the export
	files   map[string]fileContent  // by entry
	before  []Object                // objects of the installation before the import
	written []Object
	done    Exported
}

func (m *importer) all(ctx context.Context, tx pgx.Tx, plain io.Reader) error {
	in := tar.NewReader(codec.WithContext(ctx, plain))
	var h header
	if err := nextJSON(in, "header.json", &h); err != nil {
		return err
	}
	if h.Format > transferFormat {
		return errors.New("the export has a newer format: use the release that made it")
	}
	ours, err := readLedgers(ctx, tx)
	if err != nil {
		return err
	}
	if err := sameSchemas(h.Schemas, ours); err != nil {
		return err
	}
	if err := makeQueues(ctx, tx, h.Queues); err != nil {
		return err
	}
	own, err := m.clear(ctx, tx)
	if err != nil {
		return err
	}
	// The manifest is the last entry. Until then the rows, which come before
	// the files, tell which object each file is.
	var objects []Object
	for {
		entry, err := in.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: the export ends early", codec.ErrDamaged)
		} else if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(entry.Name, "tables/"):
			err = m.table(ctx, tx, own, strings.TrimPrefix(entry.Name, "tables/"), in)
		case strings.HasPrefix(entry.Name, "files/"):
			if objects == nil {
				if objects, err = storedObjects(ctx, tx); err != nil {
					return err
				}
			}
			m.Progress("files", int64(len(m.files)), int64(len(objects)))
			err = m.file(ctx, objects, entry.Name, in)
		case entry.Name == "manifest.json":
			var c contents
			if err := codec.DecodeJSON(in, &c); err != nil {
				return err
			}
			if err := m.compare(ctx, tx, c); err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, plain) // verify the final checksums
			return err
		}
		if err != nil {
			return fmt.Errorf("%s: %w", entry.Name, err)
		}
	}
}

func nextJSON(in *tar.Reader, name string, v any) error {
	entry, err := in.Next()
	if errors.Is(err, codec.ErrDamaged) || errors.Is(err, tar.ErrHeader) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("this is not an export, or its beginning is lost: %w", err)
	} else if err != nil {
		return err
	}
	if entry.Name != name {
		return fmt.Errorf("%w: this is not an export", codec.ErrDamaged)
	}
	return json.NewDecoder(in).Decode(v)
}

// clear empties the tables. It returns an error if a table has user content and
// Replace is not set.
func (m *importer) clear(ctx context.Context, tx pgx.Tx) ([]tableContent, error) {
	// Triggers and foreign keys already applied when the rows were created.
	if _, err := tx.Exec(ctx, copySettings+`; set local session_replication_role = replica`); err != nil {
		return nil, err
	}
	own, err := transferTables(ctx, tx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range own {
		if !slices.Contains(extensionTables, t.Name) { // older exports do not have these
			names = append(names, t.Name)
		}
	}
	if m.before, err = storedObjects(ctx, tx); err != nil {
		return nil, err
	}
	if !m.Replace {
		if err := m.refuseContent(ctx, tx, names); err != nil {
			return nil, err
		}
	}
	_, err = tx.Exec(ctx, `truncate `+strings.Join(names, ", "))
	return own, err
}

// refuseContent returns an error if one of the tables has user content. It first waits for
// transactions that write to them, whose rows may be acknowledged a moment later.
func (m *importer) refuseContent(ctx context.Context, tx pgx.Tx, tables []string) error {
	protected := slices.DeleteFunc(append([]string{"auth.users"}, m.Protected...),
		func(table string) bool { return !slices.Contains(tables, table) })
	if len(protected) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `lock table `+strings.Join(protected, ", ")+` in access exclusive mode`); err != nil {
		return err
	}
	for _, table := range protected {
		var any bool
		if err := tx.QueryRow(ctx, `select exists (select from `+table+`)`).Scan(&any); err != nil {
			return err
		}
		if any {
			return fmt.Errorf("%w: %s is not empty: import into a new installation, or allow replacing its "+
				"content", ErrNotEmpty, table)
		}
	}
	return nil
}

func (m *importer) table(ctx context.Context, tx pgx.Tx, own []tableContent, name string, in io.Reader) error {
	m.Progress("tables", int64(len(m.tables)), int64(len(own)))
	i := slices.IndexFunc(own, func(t tableContent) bool { return t.Name == name })
	if i < 0 {
		return fmt.Errorf("%w: this installation has no such table", ErrOtherSchema)
	}
	t := own[i]
	sum := sha256.New()
	var err error
	if t.Rows, err = t.copyIn(ctx, tx, io.TeeReader(in, sum)); err != nil {
		return err
	}
	t.SHA256 = hex.EncodeToString(sum.Sum(nil))
	m.tables[name] = t
	m.done.Rows += t.Rows
	return nil
}

func (m *importer) file(ctx context.Context, objects []Object, entry string, in io.Reader) error {
	i, err := strconv.Atoi(strings.TrimPrefix(entry, "files/"))
	if err != nil || i < 0 || i >= len(objects) {
		return fmt.Errorf("%w: the file belongs to no row", codec.ErrDamaged)
	}
	sum := &codec.Counter{Hash: sha256.New()}
	if err := m.Files.Put(ctx, objects[i], io.TeeReader(in, sum)); err != nil {
		return err
	}
	m.written = append(m.written, objects[i])
	m.files[entry] = fileContent{Object: objects[i], Size: sum.N, SHA256: hex.EncodeToString(sum.Sum(nil))}
	m.done.Bytes += sum.N
	return nil
}

// compare checks the imported data against the manifest, counts the rows in
// Postgres, and sets the sequences.
func (m *importer) compare(ctx context.Context, tx pgx.Tx, c contents) error {
	for _, want := range c.Tables {
		got := m.tables[want.Name]
		if !slices.Equal(got.Columns, want.Columns) {
			return fmt.Errorf("%w: table %s has columns %v in the export and %v here", ErrOtherSchema, want.Name,
				want.Columns, got.Columns)
		}
		var rows int64
		if err := tx.QueryRow(ctx, `select count(*) from `+want.Name).Scan(&rows); err != nil {
			return err
		}
		if got.Rows != want.Rows || rows != want.Rows || got.SHA256 != want.SHA256 {
			return fmt.Errorf("%w: table %s does not match the manifest", codec.ErrDamaged, want.Name)
		}
	}
	for i, want := range c.Files {
		if got := m.files[fileEntry(i)]; got != want {
			return fmt.Errorf("%w: file %s/%s does not match the manifest", codec.ErrDamaged, want.Bucket, want.Name)
		}
	}
	if len(m.tables) != len(c.Tables) || len(m.files) != len(c.Files) {
		return fmt.Errorf("%w: the export has entries that its manifest lacks", codec.ErrDamaged)
	}
	for name, last := range c.Sequences {
		if err := setSequence(ctx, tx, name, last); err != nil {
			return fmt.Errorf("sequence %s: %w", name, err)
		}
	}
	m.done.Tables, m.done.Files = len(m.tables), len(m.files)
	return nil
}

// subtract returns the objects of all with versions that others does not have.
func subtract(all, others []Object) []Object {
	type key struct{ bucket, name, version string }
	has := map[key]bool{}
	for _, o := range others {
		has[key{o.Bucket, o.Name, o.Version}] = true
	}
	var rest []Object
	for _, o := range all {
		if !has[key{o.Bucket, o.Name, o.Version}] {
			rest = append(rest, o)
		}
	}
	return rest
}
