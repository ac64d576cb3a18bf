package storage

import (
	"io"
	"io/fs"
	"path/filepath"
	"testing"
	"time"
)

// TestOvertakenUploads creates objects while uploads with the same names, which began before, still
// send their bytes. The uploader may create objects and not change them, so the uploads must not
// replace them. A replaced object must not pass the check for another one either.
func TestOvertakenUploads(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	s.db.Exec(`create policy create_any on storage.objects for insert to authenticated with check (bucket_id = 'b');
		create policy read_own on storage.objects for select to authenticated using (owner_id = auth.jwt() ->> 'sub');
		create policy change_own on storage.objects for update to authenticated using (owner_id = auth.jwt() ->> 'sub')`)
	stranger := s.user("11111111-1111-4111-8111-111111111111")
	upload := s.tusPath(s.tusCreate(stranger, "b", "tus", 10, ""))
	for name, begin := range map[string]func(io.Reader) reply{
		"plain": func(body io.Reader) reply {
			return s.do(stranger, "POST", "/object/b/plain", body, "Content-Type", "text/plain")
		},
		"upsert": func(body io.Reader) reply {
			return s.do(stranger, "POST", "/object/b/upsert", body, "Content-Type", "text/plain", "X-Upsert", "true")
		},
		"service": func(body io.Reader) reply {
			return s.do(s.demo.ServiceRole, "POST", "/object/b/service", body, "Content-Type", "text/plain")
		},
		"tus": func(body io.Reader) reply {
			return s.tus(stranger, "PATCH", upload, body, "Upload-Offset", "0")
		},
	} {
		files, size := stored(s.dir)
		read, write := io.Pipe()
		late := make(chan reply, 1)
		go func() { late <- begin(read) }()
		if _, err := io.WriteString(write, "first"); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if n, bytes := stored(s.dir); n > files || bytes > size {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: no bytes were stored", name)
			}
		}
		s.do(s.demo.ServiceRole, "POST", "/object/b/"+name, "second", "Content-Type", "text/plain").want(t, 200, "Key")
		io.WriteString(write, " late")
		write.Close()
		if r := <-late; r.StatusCode < 400 {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
		if got := s.do(s.demo.ServiceRole, "GET", "/object/b/"+name, nil); string(got.body) != "second" {
			t.Errorf("%s: the object has %q", name, got.body)
		}
		if n, _ := stored(s.dir); name != "tus" && n > files+1 {
			t.Errorf("%s: bytes of the refused upload are left", name)
		}
	}
}

// stored counts the files below a folder and their bytes.
func stored(dir string) (files, size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			files, size = files+1, size+info.Size()
		}
		return nil // the server writes at the same time
	})
	return files, size
}
