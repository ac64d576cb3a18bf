package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/storage/backend"
	"daawo/supabase/internal/storage/objects"

	"github.com/jackc/pgx/v5"
)

// Environment of the child process that TestKilledAtEveryStep kills.
const (
	crashURL  = "STORAGE_CRASH_URL"
	crashDir  = "STORAGE_CRASH_DIR"
	crashStep = "STORAGE_CRASH_STEP"
	crashWhat = "STORAGE_CRASH_WHAT"
)

func crashStore(t testing.TB, url, dir string, step func(string)) (*objects.Store, *backend.Disk) {
	pool, err := db.Open(context.Background(), db.Config{URL: url, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	disk, err := backend.OpenDisk(backend.DiskConfig{Path: dir, Bucket: "stub", Tenant: "stub", Step: step})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return objects.New(objects.Config{Pool: pool, Backend: disk, FileSizeLimit: 1 << 20, URLSecret: []byte("x"), Step: step}), disk
}

func crashUpload(ctx context.Context, s *objects.Store, name, content string) error {
	a, err := s.Admit(ctx, objects.Caller{}.Service(), objects.Upload{Bucket: "b", Name: name, Upsert: true})
	if err == nil {
		_, err = a.Upload(ctx, strings.NewReader(content), 1<<20)
	}
	return err
}

// crashActions are what is interrupted. Each works on bucket b, in which "old" exists.
var crashActions = map[string]func(context.Context, *objects.Store) error{
	"upload": func(ctx context.Context, s *objects.Store) error {
		return crashUpload(ctx, s, "new/file", "fresh")
	},
	"replace": func(ctx context.Context, s *objects.Store) error {
		return crashUpload(ctx, s, "old", "fresh")
	},
	"delete": func(ctx context.Context, s *objects.Store) error {
		return s.Delete(ctx, objects.Caller{}.Service(), "b", "old")
	},
	"move": func(ctx context.Context, s *objects.Store) error {
		_, err := s.Move(ctx, objects.Caller{}.Service(), "b", "old", "b", "moved")
		return err
	},
}

// crashSteps are the steps of each, in order; none is the run to the end.
var crashSteps = map[string][]string{
	"upload":  {"create temporary file", "write bytes", "sync file", "rename", "stored", "write row", "row written", "none"},
	"replace": {"sync file", "rename", "stored", "write row", "row written", "delete bytes", "none"},
	"delete":  {"delete bytes", "none"},
	"move":    {"write bytes", "rename", "stored", "delete bytes", "none"},
}

// TestCrashChild is the process that dies. It does nothing unless it is started by the test below.
func TestCrashChild(t *testing.T) {
	url := os.Getenv(crashURL)
	if url == "" {
		t.Skip("started by TestKilledAtEveryStep")
	}
	s, _ := crashStore(t, url, os.Getenv(crashDir), func(step string) {
		if step == os.Getenv(crashStep) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	if err := crashActions[os.Getenv(crashWhat)](context.Background(), s); err != nil {
		t.Fatal(err)
	}
}

// TestKilledAtEveryStep kills the process with SIGKILL before every step of every kind of write, then looks: each row has
// its bytes, whole; after the sweeper each file has its row.
func TestKilledAtEveryStep(t *testing.T) {
	st := newStack(t)
	url := st.db.URL("supabase_storage_admin")
	for what := range crashActions {
		for _, step := range crashSteps[what] {
			t.Run(what+"/"+step, func(t *testing.T) {
				dir := t.TempDir()
				s, disk := crashStore(t, url, dir, nil)
				ctx := context.Background()
				st.reset("b")
				if err := crashUpload(ctx, s, "old", "before"); err != nil {
					t.Fatal(err)
				}
				child := exec.Command(os.Args[0], "-test.run=^TestCrashChild$", "-test.count=1")
				child.Env = append(os.Environ(), crashURL+"="+url, crashDir+"="+dir, crashStep+"="+step, crashWhat+"="+what)
				out, err := child.CombinedOutput()
				var exit *exec.ExitError
				killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
				if err != nil && !killed {
					t.Fatalf("the child failed by itself: %v\n%s", err, out)
				}
				if killed != (step != "none") {
					t.Fatalf("killed: %v", killed)
				}
				st.agree(ctx, t, disk)
				if _, err := s.Sweep(ctx, -time.Minute); err != nil {
					t.Fatal(err)
				}
				rows := st.agree(ctx, t, disk)
				if files := filesIn(t, dir); len(files) != rows {
					t.Errorf("%d rows and, after the sweeper, the files %v", rows, files)
				}
			})
		}
	}
}

// reset makes an empty bucket without asking the API.
func (s *stack) reset(bucket string) {
	s.t.Helper()
	s.db.Exec(`set storage.allow_delete_query = 'true'; delete from storage.objects; insert into storage.buckets (id, name) values ('` + bucket + `', '` + bucket + `') on conflict do nothing`)
}

// agree checks that every row names whole bytes, and counts the rows.
func (s *stack) agree(ctx context.Context, t *testing.T, b backend.Backend) int {
	t.Helper()
	conn, err := pgx.Connect(ctx, s.db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `select bucket_id, name, version, (metadata ->> 'size')::bigint from storage.objects`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var k backend.Key
		var size int64
		if err := rows.Scan(&k.Bucket, &k.Name, &k.Version, &size); err != nil {
			t.Fatal(err)
		}
		body, err := b.Open(ctx, k, 0, -1)
		if err != nil {
			t.Errorf("the row %v has no bytes: %v", k, err)
			continue
		}
		var data bytes.Buffer
		data.ReadFrom(body)
		body.Close()
		if text := data.String(); int64(len(text)) != size || text != "before" && text != "fresh" {
			t.Errorf("the row %v says %d bytes and has %q", k, size, text)
		}
	}
	return n
}

func filesIn(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestSweepKeepsWhatIsNamed sweeps over live objects, an unfinished upload and orphans of every kind.
func TestSweepKeepsWhatIsNamed(t *testing.T) {
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	for i := range 20 {
		s.do(key, "POST", fmt.Sprintf("/object/b/dir//file %d.txt", i), fmt.Sprint(i)).want(t, 200, "Key")
	}
	created := s.tusCreate(key, "b", "pending", 10, "")
	upload := s.tusPath(created)
	s.tus(key, "PATCH", upload, "12345", "Upload-Offset", "0").want(t, 204, "")
	orphan := filepath.Join(s.dir, "stub", "stub", "b", "gone", "11111111-1111-4111-8111-111111111111")
	if err := os.MkdirAll(filepath.Dir(orphan), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{orphan, filepath.Join(s.dir, ".incoming", "left")} {
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	swept, err := s.engine.Sweep(t.Context(), time.Hour)
	if err != nil || swept.Orphans != 0 || swept.Temporary != 0 {
		t.Fatalf("young files were swept: %+v, %v", swept, err)
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, file := range filesIn(t, s.dir) {
		if !strings.Contains(file, "pending") {
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	swept, err = s.engine.Sweep(t.Context(), time.Hour)
	if err != nil || swept.Orphans != 1 || swept.Temporary != 1 {
		t.Fatalf("%+v, %v", swept, err)
	}
	for i := range 20 {
		s.do(key, "GET", fmt.Sprintf("/object/b/dir//file %d.txt", i), nil).want(t, 200, fmt.Sprint(i))
	}
	s.tus(key, "PATCH", upload, "67890", "Upload-Offset", "5").want(t, 204, "")
	r := s.do(key, "GET", "/object/b/pending", nil).want(t, 200, "1234567890")
	if sha256.Sum256(r.body) != sha256.Sum256([]byte("1234567890")) {
		t.Error("the upload changed")
	}
}
