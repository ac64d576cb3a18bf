package logical

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/database/backup/codec"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/testdb"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
)

// memory is Files for tests.
type memory struct {
	mu   sync.Mutex
	data map[string]string
}

func at(o Object) string { return o.Bucket + "/" + o.Name + "/" + o.Version }

func (m *memory) Open(_ context.Context, o Object) (io.ReadCloser, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, ok := m.data[at(o)]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), int64(len(text)), nil
}

func (m *memory) Put(_ context.Context, o Object, r io.Reader) error {
	b, err := io.ReadAll(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data[at(o)] = string(b)
	return err
}

func (m *memory) Delete(_ context.Context, all ...Object) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range all {
		delete(m.data, at(o))
	}
	return nil
}

// project has a table, two buckets and a seed.
var project = fstest.MapFS{
	"migrations/20260101000000_notes.sql": {Data: []byte(`
create table public.notes (id uuid primary key default gen_random_uuid(), title text not null, text text not null, author text);
create table public.tags (id bigint generated always as identity primary key, name text not null);
insert into storage.buckets (id, name) values ('avatars', 'avatars'), ('documents', 'documents');
`)},
	"seed.sql": {Data: []byte(`insert into public.tags (name) values ('red'), ('green');`)},
}

// migrated returns a database with the schema of the platform and of the project, and its seed.
func migrated(t *testing.T) *testdb.DB {
	t.Helper()
	db := testdb.New(t)
	if _, err := migrate.Apply(t.Context(), db.Conn("postgres"), project); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.Seed(t.Context(), db.Conn("postgres"), project, []string{"seed.sql"}); err != nil {
		t.Fatal(err)
	}
	return db
}

// filled returns a database and files with content in every part of an export.
func filled(t *testing.T) (*testdb.DB, *memory) {
	db := migrated(t)
	db.ExecAs("supabase_admin", `
		insert into public.notes (title, text, author)
		values ('First', e'line one\nline two\t\\ and "quotes"', null), ('Second', 'x', 'Caasha');
		insert into auth.users (id, aud, role, email, encrypted_password, created_at, updated_at)
		values ('11111111-1111-4111-8111-111111111111', 'authenticated', 'authenticated', 'someone@example.org', '$2a$10$hash', now(), now());
		insert into auth.sessions (id, user_id, created_at, updated_at)
		values ('22222222-2222-4222-8222-222222222222', '11111111-1111-4111-8111-111111111111', now(), now());
		insert into auth.refresh_tokens (token, user_id, session_id, revoked, created_at, updated_at)
		values ('abcdefghijkl', '11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222', false, now(), now());
		insert into storage.objects (bucket_id, name, version, metadata)
		select 'avatars', n || '.jpg', 'v' || n, '{"mimetype": "image/jpeg"}' from generate_series(1700000000001, 1700000000003) n`)
	files := &memory{data: map[string]string{}}
	for n := range 3 {
		files.data[fmt.Sprintf("avatars/170000000000%d.jpg/v170000000000%[1]d", n+1)] = strings.Repeat("photo", n*1000)
	}
	return db, files
}

func export(t *testing.T, db *testdb.DB, files Files, recipients ...age.Recipient) []byte {
	t.Helper()
	var out bytes.Buffer
	_, err := Export(t.Context(), ExportOptions{URL: db.URL("supabase_admin"), Files: files, Recipients: recipients},
		func() (io.WriteCloser, error) {
			out.Reset()
			return keepOpen{&out}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// manifestOf reads the manifest of an export.
func manifestOf(t *testing.T, export []byte) (c contents) {
	t.Helper()
	plain, err := codec.Codec{}.Decode("x.zst", bytes.NewReader(export))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for in := tar.NewReader(plain); ; {
		entry, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		if entry.Name == "manifest.json" {
			if err := json.NewDecoder(in).Decode(&c); err != nil {
				t.Fatal(err)
			}
			return c
		}
	}
}

func TestExportAndImport(t *testing.T) {
	source, sourceFiles := filled(t)
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	target := migrated(t)
	target.ExecAs("supabase_admin",
		`insert into storage.objects (bucket_id, name, version) values ('documents', 'seeded.pdf', 'v')`)
	targetFiles := &memory{data: map[string]string{"documents/seeded.pdf/v": "seeded"}}
	encoded := export(t, source, sourceFiles, identity.Recipient())
	if bytes.Contains(encoded, []byte("Caasha")) {
		t.Error("the export is not encrypted")
	}
	o := ImportOptions{URL: target.URL("supabase_admin"), Files: targetFiles, Identities: []age.Identity{identity},
		Encrypted: true}
	e, err := Import(t.Context(), o, bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	if e.Files != 3 || e.Rows == 0 {
		t.Errorf("imported %+v", e)
	}
	// What the target exports now is what came in: rows, sums, sequences, files.
	want, got := manifestOf(t, export(t, source, sourceFiles)), manifestOf(t, export(t, target, targetFiles))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(sourceFiles.data, targetFiles.data); diff != "" {
		t.Errorf("files: %s", diff)
	}
	if n := len(want.Tables); n < 20 {
		t.Errorf("only %d tables were exported", n)
	}
	// New rows do not collide with imported ones.
	target.ExecAs("supabase_admin",
		`insert into auth.refresh_tokens (token, user_id) values ('mnopqrstuvwx', '11111111-1111-4111-8111-111111111111')`)

	if _, err := Import(t.Context(), o, bytes.NewReader(encoded)); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("over user data, without Replace: %v", err)
	}
	o.Replace = true
	if _, err := Import(t.Context(), o, bytes.NewReader(encoded)); err != nil {
		t.Errorf("over user data, with Replace: %v", err)
	}
	if diff := cmp.Diff(sourceFiles.data, targetFiles.data); diff != "" {
		t.Errorf("files after importing again: %s", diff)
	}
}

// TestTransferNeedsNoSuperuser runs an export and an import as the role of the compose service
// transfer.
func TestTransferNeedsNoSuperuser(t *testing.T) {
	roles, err := os.ReadFile("../../../../../docker/volumes/db/service_roles.sql")
	if err != nil {
		t.Fatal(err)
	}
	source, sourceFiles := filled(t)
	source.ExecAs("supabase_admin", string(roles))
	target, targetFiles := migrated(t), &memory{data: map[string]string{}}
	const role = "daawo_transfer"
	if testdb.Value[bool](source, `select rolsuper from pg_roles where rolname = $1`, role) {
		t.Errorf("%s is a superuser", role)
	}
	var encoded bytes.Buffer
	_, err = Export(t.Context(), ExportOptions{URL: source.URL(role), Files: sourceFiles},
		func() (io.WriteCloser, error) { return keepOpen{&encoded}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), ImportOptions{URL: target.URL(role), Files: targetFiles, Replace: true},
		&encoded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(manifestOf(t, export(t, source, sourceFiles)),
		manifestOf(t, export(t, target, targetFiles))); diff != "" {
		t.Error(diff)
	}
}

func TestImportIsAtomic(t *testing.T) {
	source, sourceFiles := filled(t)
	whole := export(t, source, sourceFiles)
	target := migrated(t)
	targetFiles := &memory{data: map[string]string{}}
	before := manifestOf(t, export(t, target, targetFiles))
	try := func(what string, export []byte, want error) {
		t.Helper()
		_, err := Import(t.Context(), ImportOptions{URL: target.URL("supabase_admin"), Files: targetFiles},
			bytes.NewReader(export))
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, part := range []int{3, 2} {
		bad := bytes.Clone(whole)
		bad[len(bad)/part] ^= 16
		try(fmt.Sprintf("a flipped bit at 1/%d", part), bad, codec.ErrDamaged)
	}
	try("an end that is missing", whole[:len(whole)*3/4], codec.ErrDamaged)
	try("something else", []byte("hello"), codec.ErrDamaged)
	for what, change := range map[string]func(*contents){
		"a row too many in the manifest":  func(c *contents) { c.Tables[0].Rows++ },
		"a file with another sum":         func(c *contents) { c.Files[0].SHA256 = strings.Repeat("0", 64) },
		"a file that the manifest misses": func(c *contents) { c.Files = c.Files[1:] },
		"a table with another sum":        func(c *contents) { c.Tables[1].SHA256 = "" },
	} {
		try(what, forge(t, whole, change), codec.ErrDamaged)
	}
	try("other columns", forge(t, whole,
		func(c *contents) { c.Tables[0].Columns = slices.Concat(c.Tables[0].Columns, []string{"more"}) }),
		ErrOtherSchema)
	target.ExecAs("supabase_admin", `insert into supabase_migrations.schema_migrations values ('99990101000000')`)
	try("a newer schema here", whole, ErrOtherSchema)
	_, err := Import(t.Context(), ImportOptions{URL: testdb.New(t).URL("supabase_admin"), Files: targetFiles},
		bytes.NewReader(whole))
	if !errors.Is(err, ErrOtherSchema) || !strings.Contains(err.Error(), "daawo migrate") {
		t.Errorf("no schema here: %v", err)
	}

	if diff := cmp.Diff(before, manifestOf(t, export(t, target, targetFiles))); diff != "" {
		t.Errorf("a failed import has changed something: %s", diff)
	}
	if left := slices.Collect(maps.Keys(targetFiles.data)); len(left) > 0 {
		t.Errorf("files were left: %v", left)
	}
}

// forge changes the manifest of an export.
func forge(t *testing.T, export []byte, change func(*contents)) []byte {
	t.Helper()
	plain, err := codec.Codec{}.Decode("x.zst", bytes.NewReader(export))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	var out bytes.Buffer
	encoded, err := codec.Codec{}.Encode(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(encoded)
	for in := tar.NewReader(plain); ; {
		entry, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if entry.Name == "manifest.json" {
			var c contents
			if err := json.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			change(&c)
			if text, err = json.Marshal(c); err != nil {
				t.Fatal(err)
			}
		}
		entry.Size = int64(len(text))
		if err := w.WriteHeader(entry); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), encoded.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestExportRestartsWhenFileIsDeleted(t *testing.T) {
	db, files := filled(t)
	fading := &fadingFiles{memory: files, db: db}
	var attempts int
	_, err := Export(t.Context(), ExportOptions{URL: db.URL("supabase_admin"), Files: fading},
		func() (io.WriteCloser, error) {
			attempts++
			return keepOpen{io.Discard}, nil
		})
	if err != nil || attempts != 2 {
		t.Errorf("%d attempts, %v", attempts, err)
	}
	for key := range files.data {
		delete(files.data, key)
	}
	_, err = Export(t.Context(), ExportOptions{URL: db.URL("supabase_admin"), Files: files},
		func() (io.WriteCloser, error) { return keepOpen{io.Discard}, nil })
	if !errors.Is(err, errFileDeleted) || !strings.Contains(err.Error(), "file avatars/1700000000002.jpg") {
		t.Errorf("with rows whose files are missing for good: %v", err)
	}
}

// fadingFiles loses an object, row and file, just before it is read.
type fadingFiles struct {
	*memory
	db   *testdb.DB
	once sync.Once
}

func (f *fadingFiles) Open(ctx context.Context, o Object) (io.ReadCloser, int64, error) {
	f.once.Do(func() {
		f.memory.Delete(ctx, o)
		f.db.ExecAs("supabase_admin",
			`set session_replication_role = replica; delete from storage.objects where name = '`+o.Name+`'`)
	})
	return f.memory.Open(ctx, o)
}
