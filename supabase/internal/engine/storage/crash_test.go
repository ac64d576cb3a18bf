package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/objects"

	"github.com/jackc/pgx/v5"
)

// Environment variables of the child process that TestKilledAtEveryStep kills.
const (
	crashURL    = "STORAGE_CRASH_URL"
	crashDir    = "STORAGE_CRASH_DIR"
	crashBucket = "STORAGE_CRASH_BUCKET"
	crashAction = "STORAGE_CRASH_ACTION"
	crashStep   = "STORAGE_CRASH_STEP" // number of steps before the process dies
)

func crashStore(t testing.TB, url, dir string, step func(string)) (*objects.Store, *backend.Disk) {
	pool, err := pool.Open(context.Background(), pool.Config{URL: url, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	disk, err := backend.OpenDisk(backend.DiskConfig{Path: dir, Bucket: "stub", Tenant: "stub", Step: step})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	s := objects.New(objects.Config{Pool: pool, Backend: disk, FileSizeLimit: 1 << 20, URLSecret: []byte("x"),
		Step: step})
	t.Cleanup(s.Close)
	if err := s.Claim(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s, disk
}

func crashUpload(ctx context.Context, s *objects.Store, bucket, name, content string) error {
	a, err := s.Admit(ctx, objects.Caller{}.Service(), objects.Upload{Bucket: bucket, Name: name, Upsert: true})
	if err == nil {
		_, err = a.Upload(ctx, strings.NewReader(content), 1<<20)
	}
	return err
}

// crashActions are the interrupted writes, in a bucket that contains the object "old".
var crashActions = map[string]func(ctx context.Context, s *objects.Store, bucket string) error{
	"upload": func(ctx context.Context, s *objects.Store, bucket string) error {
		return crashUpload(ctx, s, bucket, "new/file", "fresh")
	},
	"replace": func(ctx context.Context, s *objects.Store, bucket string) error {
		return crashUpload(ctx, s, bucket, "old", "fresh")
	},
	"resumable": func(ctx context.Context, s *objects.Store, bucket string) error {
		key := backend.Key{Bucket: bucket, Name: "old", Version: "11111111-1111-4111-8111-111111111111"}
		if err := s.Backend.Begin(ctx, key, backend.Options{}, []byte(`{}`)); err != nil {
			return err
		}
		for offset, piece := range []string{0: "f", 1: "resh"} {
			if _, err := s.Backend.Append(ctx, key, int64(offset), strings.NewReader(piece),
				func(int64) bool { return offset == 1 }); err != nil {
				return err
			}
		}
		meta, err := s.Backend.Finish(ctx, key)
		if err == nil {
			_, err = s.Complete(ctx, objects.Caller{}.Service(), key, objects.Upload{Upsert: true},
				objects.MetadataOf(meta), nil)
		}
		return err
	},
	"multipart": func(ctx context.Context, s *objects.Store, bucket string) error {
		service := objects.Caller{}.Service()
		key := backend.Key{Bucket: bucket, Name: "parts/file", Version: "22222222-2222-4222-8222-222222222222"}
		id, err := s.Multipart.Create(ctx, service, key, backend.Options{}, nil)
		if err != nil {
			return err
		}
		m, err := s.Multipart.Get(ctx, service, id, bucket, key.Name)
		if err != nil {
			return err
		}
		for i, piece := range []string{"fr", "esh"} {
			if _, err := s.Multipart.PutPart(ctx, service, m, i+1, strings.NewReader(piece),
				int64(len(piece))); err != nil {
				return err
			}
		}
		_, err = s.Multipart.Complete(ctx, service, m, nil, objects.Condition{})
		return err
	},
	"copy": func(ctx context.Context, s *objects.Store, bucket string) error {
		_, err := s.Copy(ctx, objects.Caller{}.Service(),
			objects.Copy{FromBucket: bucket, FromName: "old", ToBucket: bucket, ToName: "copied", KeepMetadata: true})
		return err
	},
	"move": func(ctx context.Context, s *objects.Store, bucket string) error {
		_, err := s.Move(ctx, objects.Caller{}.Service(), bucket, "old", bucket, "moved")
		return err
	},
	"delete": func(ctx context.Context, s *objects.Store, bucket string) error {
		return s.Delete(ctx, objects.Caller{}.Service(), bucket, "old", "")
	},
}

// TestCrashChild is the child process of TestKilledAtEveryStep. It is skipped without the
// environment variables.
func TestCrashChild(t *testing.T) {
	url := os.Getenv(crashURL)
	if url == "" {
		t.Skip("started by TestKilledAtEveryStep")
	}
	left, err := strconv.Atoi(os.Getenv(crashStep))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := crashStore(t, url, os.Getenv(crashDir), func(string) {
		if left--; left < 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	if err := crashActions[os.Getenv(crashAction)](context.Background(), s, os.Getenv(crashBucket)); err != nil {
		t.Fatal(err)
	}
}

// TestKilledAtEveryStep kills the process with SIGKILL before each step of each kind of write.
// Every row must then have all of its bytes. After a sweep, every file must have its row and no
// folder may be empty. An uninterrupted run collects the steps first.
func TestKilledAtEveryStep(t *testing.T) {
	for name, action := range crashActions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStack(t)
			var steps []string
			crashRound(t, st, name+"-all", func(url, dir, bucket string) {
				s, _ := crashStore(t, url, dir, func(step string) { steps = append(steps, step) })
				if err := action(t.Context(), s, bucket); err != nil {
					t.Fatal(err)
				}
			})
			if len(steps) == 0 {
				t.Fatal("no steps recorded")
			}
			for i, step := range steps {
				crashRound(t, st, fmt.Sprintf("%s-%d-%s", name, i, strings.ReplaceAll(step, " ", "-")),
					func(url, dir, bucket string) {
						child := exec.Command(os.Args[0], "-test.run=^TestCrashChild$", "-test.count=1")
						child.Env = append(os.Environ(), crashURL+"="+url, crashDir+"="+dir, crashBucket+"="+bucket,
							crashAction+"="+name, crashStep+"="+strconv.Itoa(i), "GORACE=atexit_sleep_ms=0")
						out, err := child.CombinedOutput()
						var exit *exec.ExitError
						if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
							t.Fatalf("before step %d, %s: the child was not killed: %v\n%s", i, step, err, out)
						}
					})
			}
			t.Logf("killed before each of %d steps: %s", len(steps), strings.Join(steps, ", "))
		})
	}
}

// crashRound calls fn with a new bucket that contains the object "old", and then checks rows and
// files.
func crashRound(t *testing.T, st *stack, bucket string, fn func(url, dir, bucket string)) {
	t.Helper()
	url, dir, ctx := st.db.URL("supabase_storage_admin"), t.TempDir(), t.Context()
	st.db.Exec(`insert into storage.buckets (id, name) values ('` + bucket + `', '` + bucket + `')`)
	s, disk := crashStore(t, url, dir, nil)
	if err := crashUpload(ctx, s, bucket, "old", "before"); err != nil {
		t.Fatal(err)
	}
	fn(url, dir, bucket)
	st.checkRows(ctx, t, disk, bucket)
	if _, err := s.Sweep(ctx, -time.Minute); err != nil {
		t.Fatal(err)
	}
	rows := st.checkRows(ctx, t, disk, bucket)
	// the description of an upload stays as long as its version
	files := slices.DeleteFunc(filesIn(t, dir), func(file string) bool {
		version, ok := strings.CutSuffix(file, ".json")
		_, err := os.Stat(version)
		return ok && err == nil
	})
	if len(files) != rows {
		t.Errorf("%s: %d rows, but after the sweep the files %v", bucket, rows, files)
	}
	if empty := emptyFolders(t, filepath.Join(dir, "stub", "stub")); len(empty) != 0 {
		t.Errorf("%s: empty folders after the sweep: %v", bucket, empty)
	}
}

// checkRows checks that every row of a bucket has all of its bytes. It returns the number of rows.
func (s *stack) checkRows(ctx context.Context, t *testing.T, b backend.Backend, bucket string) int {
	t.Helper()
	conn, err := pgx.Connect(ctx, s.db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx,
		`select bucket_id, name, version, (metadata ->> 'size')::bigint from storage.objects where bucket_id = $1`,
		bucket)
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
			t.Errorf("row %v has no bytes: %v", k, err)
			continue
		}
		var data bytes.Buffer
		data.ReadFrom(body)
		body.Close()
		if text := data.String(); int64(len(text)) != size || text != "before" && text != "fresh" {
			t.Errorf("row %v has size %d and content %q", k, size, text)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

func emptyFolders(t *testing.T, dir string) (empty []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && name != dir {
			if entries, err := os.ReadDir(name); err == nil && len(entries) == 0 {
				empty = append(empty, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return empty
}

// filesIn returns the files in dir, without the mark.
func filesIn(t testing.TB, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == ".database" {
			return fs.SkipDir
		}
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
