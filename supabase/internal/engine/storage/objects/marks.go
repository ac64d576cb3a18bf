package objects

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"daawo/supabase/internal/engine/storage/backend"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// The rows of storage.objects decide which bytes are deleted, so they must be the rows of these
// bytes. Another database, or an older state of this one, does not name bytes that are needed.
// Therefore the files have a mark, which the table storage.file_marks of their database contains. A
// new mark follows each upload, so a database from before the upload does not know the mark. It is
// written to the database first: the database that made it always knows it.

// ErrForeignFiles says that the database does not know the mark of the files, so it may not delete
// them.
var ErrForeignFiles = errors.New("the files belong to another database or to a newer state of this one")

// errUnmarked says that the files have no mark yet.
var errUnmarked = errors.New("the files have no mark")

const (
	markDelay = 10 * time.Second // from an upload to the mark that covers it and those until then
	markRetry = time.Minute
	// keptMarks is how many marks older than the one of the files the database keeps.
	keptMarks = 100
)

// markLock is the advisory lock of a transaction that writes the mark of the files.
const markLock = 0x6461_6177_6f66

// ownership is what is known about the files: whose they are.
type ownership int

const (
	unknownFiles ownership = iota
	ownFiles
	foreignFiles
)

// marks is the state of the marks of one process.
type marks struct {
	mu      sync.Mutex
	files   ownership
	pending *time.Timer // the next mark; nil if no upload waits for one
	closed  bool
	renewal sync.WaitGroup
}

// mark is the content of the file with the mark: a token of storage.file_marks, and the system
// identifier of the database's cluster, which a copy made with pg_dump does not have.
type mark struct{ token, system string }

func (m mark) text() []byte { return fmt.Appendf(nil, "%s %s\n", m.token, m.system) }

// readMark returns the mark of the files, or errUnmarked. given reports whether the operator has
// emptied it, which gives the files to this database.
func readMark(ctx context.Context, files backend.Backend) (m mark, given bool, err error) {
	text, err := files.Mark(ctx)
	switch fields := strings.Fields(string(text)); {
	case errors.Is(err, backend.ErrNotFound):
		return m, false, errUnmarked
	case err != nil:
		return m, false, err
	case len(fields) == 0:
		return m, true, nil
	case len(fields) != 2 || uuid.Validate(fields[0]) != nil:
		return m, false, foreign(files, "is not a mark")
	default:
		return mark{fields[0], fields[1]}, false, nil
	}
}

func foreign(files backend.Backend, why string) error {
	return fmt.Errorf("%w: %s %s: nothing is deleted from these files: start with the database that they belong to "+
		"(DATABASE_URL), or, if this one replaces it, empty the mark", ErrForeignFiles, files.MarkPlace(), why)
}

// errUnknown says that the database does not know the mark.
func errUnknown(files backend.Backend) error { return foreign(files, "is unknown to this database") }

// knownMark is true if the database has made the mark $1, in the cluster $2: in its own one, or in
// the one from which `daawo postgres switch` has moved it.
const knownMark = `exists (select from storage.file_marks where token = $1::uuid
	and $2 = coalesce(moved_from, (select system_identifier::text from pg_control_system())))`

// verify returns the mark of the files. It returns ErrForeignFiles if the database does not know
// it, and errUnmarked if there is none.
func (b *base) verify(ctx context.Context) (mark, error) {
	m, given, err := readMark(ctx, b.Backend)
	if err == nil && !given {
		var known *bool
		known, err = row(ctx, b, Caller{}.Service(), pgx.RowTo[bool], `select `+knownMark, m.token, m.system)
		if err == nil && !*known {
			err = errUnknown(b.Backend)
		}
	}
	switch {
	case errors.Is(err, ErrForeignFiles):
		b.setOwnership(foreignFiles)
	case err == nil || errors.Is(err, errUnmarked):
		b.setOwnership(ownFiles)
	}
	if err == nil && given {
		return b.renew(ctx, true)
	}
	return m, err
}

// CheckMark returns ErrForeignFiles if the database does not know the mark of the files. Programs
// that delete files by the rows of a database ask it first.
func CheckMark(ctx context.Context, files backend.Backend, conn *pgx.Conn) error {
	m, given, err := readMark(ctx, files)
	if given || errors.Is(err, errUnmarked) {
		return nil
	}
	var known bool
	if err == nil {
		err = conn.QueryRow(ctx, `select to_regclass('storage.file_marks') is not null`).Scan(&known)
	}
	if known {
		err = conn.QueryRow(ctx, `select `+knownMark, m.token, m.system).Scan(&known)
	}
	if err == nil && !known {
		return errUnknown(files)
	}
	return err
}

// Foreign returns the place of the mark if the files belong to another database, or "".
func (b *base) Foreign() string {
	b.marks.mu.Lock()
	defer b.marks.mu.Unlock()
	if b.marks.files == foreignFiles {
		return b.Backend.MarkPlace()
	}
	return ""
}

func (b *base) setOwnership(o ownership) {
	b.marks.mu.Lock()
	defer b.marks.mu.Unlock()
	b.marks.files = o
}

// mayDelete reports whether the bytes of deleted rows may be deleted at once.
func (b *base) mayDelete(ctx context.Context) bool {
	b.marks.mu.Lock()
	files := b.marks.files
	b.marks.mu.Unlock()
	if files == unknownFiles {
		if _, err := b.verify(ctx); err != nil && !errors.Is(err, errUnmarked) {
			b.log.ErrorContext(ctx, "storage: bytes of deleted objects are kept", "error", err)
			return false
		}
		return true
	}
	return files == ownFiles
}

// renew writes a new mark, in the database and then beside the files. Unless first is set, the
// database must know the mark that is there.
func (b *base) renew(ctx context.Context, first bool) (mark, error) {
	service := Caller{}.Service()
	made, err := row(ctx, b, service, pgx.RowTo[string], `
		insert into storage.file_marks default values returning token::text`)
	if err != nil {
		return mark{}, err
	}
	// Replicas write the newest mark, one after the other.
	var newest mark
	err = b.tx(ctx, service, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, int64(markLock)); err != nil {
			return err
		}
		if !first {
			m, given, err := readMark(ctx, b.Backend)
			if err == nil && !given {
				err = b.passOn(ctx, tx, m)
			}
			if err != nil {
				return err
			}
		}
		if err := tx.QueryRow(ctx, `
			select token::text, (select system_identifier::text from pg_control_system())
			  from storage.file_marks where id >= (select id from storage.file_marks where token = $1::uuid)
			 order by id desc limit 1`, *made).Scan(&newest.token, &newest.system); err != nil {
			return err
		}
		return b.Backend.SetMark(ctx, newest.text())
	})
	if err == nil {
		b.setOwnership(ownFiles)
	}
	return newest, err
}

// passOn returns ErrForeignFiles unless the database knows m. It deletes marks that are much older.
func (b *base) passOn(ctx context.Context, tx pgx.Tx, m mark) error {
	var known bool
	if err := tx.QueryRow(ctx, `select `+knownMark, m.token, m.system).Scan(&known); err != nil {
		return err
	}
	if !known {
		return errUnknown(b.Backend)
	}
	_, err := tx.Exec(ctx, `
		delete from storage.file_marks
		 where id < (select id from storage.file_marks where token = $1::uuid) - $2`, m.token, keptMarks)
	return err
}

// Claim checks the mark of the files, and makes it if there are no files yet. It returns
// ErrForeignFiles if the database does not know the mark; then no file is deleted.
func (s *Store) Claim(ctx context.Context) error {
	_, err := s.verify(ctx)
	if !errors.Is(err, errUnmarked) {
		return err
	}
	empty := true
	err = s.Backend.Walk(ctx, func(backend.Entry) error {
		empty = false
		return errWalked
	})
	if !empty || err != nil {
		if errors.Is(err, errWalked) {
			err = nil
		}
		return err // the sweep counts them
	}
	_, err = s.renew(ctx, true)
	return err
}

var errWalked = errors.New("walked")

// adopt marks files from before there were marks, if the database names at least half of them.
func (b *base) adopt(ctx context.Context) error {
	var all, orphans int
	err := b.batches(ctx, func(backend.Entry) bool { return true }, func(keys []backend.Key) error {
		gone, err := b.orphans(ctx, mark{}, keys)
		all, orphans = all+len(keys), orphans+len(gone)
		return err
	})
	if err != nil {
		return err
	}
	if orphans > all-orphans {
		b.setOwnership(foreignFiles)
		return foreign(b.Backend, fmt.Sprintf("is missing, and the database does not name %d of %d files", orphans, all))
	}
	_, err = b.renew(ctx, true)
	return err
}

// stored makes a mark follow soon.
func (b *base) stored() { b.markAfter(markDelay) }

func (b *base) markAfter(wait time.Duration) {
	m := &b.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending == nil && !m.closed {
		m.pending = time.AfterFunc(wait, b.markNow)
	}
}

// markNow renews the mark, and tries again later if that failed.
func (b *base) markNow() {
	m := &b.marks
	m.mu.Lock()
	if m.pending == nil || m.closed {
		m.mu.Unlock()
		return
	}
	m.pending = nil
	m.renewal.Add(1)
	m.mu.Unlock()
	defer m.renewal.Done()
	b.markLogged()
}

func (b *base) markLogged() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := b.verify(ctx)
	if err == nil {
		_, err = b.renew(ctx, false)
	}
	switch {
	case errors.Is(err, errUnmarked): // the sweep marks them
	case errors.Is(err, ErrForeignFiles):
		b.setOwnership(foreignFiles)
		b.log.ErrorContext(ctx, "storage: files not marked", "error", err)
	case err != nil:
		b.log.WarnContext(ctx, "storage: files not marked; retrying", "error", err, "in", markRetry)
		b.markAfter(markRetry)
	}
}

// Close writes the mark that waits.
func (s *Store) Close() {
	m := &s.marks
	m.mu.Lock()
	waits := m.pending != nil && m.pending.Stop()
	m.pending, m.closed = nil, true
	m.mu.Unlock()
	m.renewal.Wait()
	if waits {
		s.markLogged()
	}
}
