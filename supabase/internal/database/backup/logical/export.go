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
	"io/fs"
	"os"
	"time"

	"daawo/supabase/internal/database/backup/codec"

	"filippo.io/age"
	"github.com/jackc/pgx/v5"
)

// Exported counts what an export or an import has transferred.
type Exported struct {
	Tables, Files int
	Rows, Bytes   int64
}

// ExportOptions configure an export.
type ExportOptions struct {
	URL        string // of a role that can read all tables
	Files      Files
	Recipients []age.Recipient
	Progress   func(step string, done, total int64)
}

// errFileDeleted: a file was deleted after its row was read and before its content was.
var errFileDeleted = errors.New("a file was deleted while it was being exported")

// Export writes a consistent snapshot of an installation. If a file is deleted
// while Export runs, it starts again with a new writer from create.
func Export(ctx context.Context, o ExportOptions, create func() (io.WriteCloser, error)) (e Exported, err error) {
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	for range 3 {
		w, failed := create()
		if failed != nil {
			return e, failed
		}
		e, err = exportOnce(ctx, o, w)
		err = errors.Join(err, w.Close())
		if !errors.Is(err, errFileDeleted) {
			return e, err
		}
	}
	return e, fmt.Errorf("%w: three attempts failed: retry when there is less traffic; if the file stays missing, "+
		"delete its object", err)
}

func exportOnce(ctx context.Context, o ExportOptions, w io.Writer) (e Exported, err error) {
	conn, err := pgx.Connect(ctx, o.URL)
	if err != nil {
		return e, fmt.Errorf("export: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	encoded, err := codec.Codec{Recipients: o.Recipients}.Encode(w)
	if err != nil {
		return e, err
	}
	x := &exporter{ExportOptions: o, tar: tar.NewWriter(encoded)}
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			return x.all(ctx, tx)
		})
	if err = errors.Join(err, x.tar.Close(), encoded.Close()); err != nil {
		return e, fmt.Errorf("export: %w", err)
	}
	return x.done, nil
}

type exporter struct {
	ExportOptions
	tar  *tar.Writer
	done Exported
}

func (x *exporter) all(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, copySettings); err != nil {
		return err
	}
	h := header{Format: transferFormat, Settings: map[string]string{}}
	var server string
	var now time.Time
	if err := tx.QueryRow(ctx, `select now(), current_setting('server_version')`).Scan(&now, &server); err != nil {
		return err
	}
	h.Time, h.Settings["postgres"] = now.UTC().Format(time.RFC3339), server
	var err error
	if h.Schemas, err = readLedgers(ctx, tx); err != nil {
		return err
	}
	if h.Queues, err = readQueues(ctx, tx); err != nil {
		return err
	}
	if err := x.json("header.json", h); err != nil {
		return err
	}
	var c contents
	if c.Tables, err = transferTables(ctx, tx); err != nil {
		return err
	}
	for i := range c.Tables {
		x.Progress("tables", int64(i), int64(len(c.Tables)))
		if err := x.table(ctx, tx, &c.Tables[i]); err != nil {
			return fmt.Errorf("table %s: %w", c.Tables[i].Name, err)
		}
	}
	if c.Sequences, err = readSequences(ctx, tx); err != nil {
		return err
	}
	objects, err := storedObjects(ctx, tx)
	if err != nil {
		return err
	}
	for i, object := range objects {
		x.Progress("files", int64(i), int64(len(objects)))
		f, err := x.file(ctx, i, object)
		if err != nil {
			return fmt.Errorf("file %s/%s: %w", object.Bucket, object.Name, err)
		}
		c.Files = append(c.Files, f)
	}
	x.done.Tables, x.done.Files = len(c.Tables), len(c.Files)
	return x.json("manifest.json", c)
}

// table writes the table to a temporary file first, because a tar header needs
// the size.
func (x *exporter) table(ctx context.Context, tx pgx.Tx, t *tableContent) error {
	spool, err := os.CreateTemp("", "daawo-export-")
	if err != nil {
		return err
	}
	defer spool.Close()
	// Unlink the file now, so that no row stays however this process ends.
	if err := os.Remove(spool.Name()); err != nil {
		return err
	}
	sum := &codec.Counter{Hash: sha256.New()}
	tag, err := tx.Conn().PgConn().CopyTo(ctx, io.MultiWriter(spool, sum), t.copyOut())
	if err != nil {
		return err
	}
	t.Rows, t.SHA256 = tag.RowsAffected(), hex.EncodeToString(sum.Sum(nil))
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	x.done.Rows += t.Rows
	return x.add("tables/"+t.Name, sum.N, spool)
}

func (x *exporter) file(ctx context.Context, i int, o Object) (fileContent, error) {
	f := fileContent{Object: o}
	r, size, err := x.Files.Open(ctx, o)
	if errors.Is(err, fs.ErrNotExist) {
		return f, errFileDeleted
	} else if err != nil {
		return f, err
	}
	defer r.Close()
	sum := sha256.New()
	if err := x.add(fileEntry(i), size, io.TeeReader(r, sum)); err != nil {
		return f, err
	}
	f.Size, f.SHA256 = size, hex.EncodeToString(sum.Sum(nil))
	return f, nil
}

func fileEntry(i int) string { return fmt.Sprintf("files/%d", i) }

func (x *exporter) json(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := x.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
		return err
	}
	_, err = x.tar.Write(text)
	return err
}

func (x *exporter) add(name string, size int64, r io.Reader) error {
	if err := x.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size}); err != nil {
		return err
	}
	x.done.Bytes += size
	_, err := io.Copy(x.tar, r)
	return err
}

// readSequences returns the last value of each sequence.
func readSequences(ctx context.Context, tx pgx.Tx) (map[string]int64, error) {
	rows, err := tx.Query(ctx, `
		select format('%I.%I', schemaname, sequencename), last_value
		from pg_sequences
		where last_value is not null
		  and (schemaname not like 'pg\_%' and schemaname <> all ($1)
		      or format('%I.%I', schemaname, sequencename) = $2)`, platformSchemas, jobsSequence)
	if err != nil {
		return nil, err
	}
	all := map[string]int64{}
	var name string
	var last int64
	_, err = pgx.ForEachRow(rows, []any{&name, &last}, func() error {
		all[name] = last
		return nil
	})
	return all, err
}
