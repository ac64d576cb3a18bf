package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/scripts/server"

	"github.com/jackc/pgx/v5"
)

// diskDrill fills a small disk under load. While the disk is full, reports and photos are refused
// and leave nothing behind, and pages and reads work, even after a restart. Writes work again as
// soon as space is free. A backup to a full disk fails with a clear message and does not count.
func diskDrill(ctx context.Context, s settings) (string, error) {
	disk, unmount, err := smallDisk(256 << 20)
	if errors.Is(err, os.ErrPermission) {
		return "", fmt.Errorf("%w: needs root to mount a small disk", errNotRun)
	} else if err != nil {
		return "", err
	}
	defer unmount()
	st, err := server.NewIn(ctx, disk, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()

	h, uploads := &history{}, &photos{}
	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() { write(writing, st, h, fmt.Sprintf("disk-%d-%d", s.seed, w)) })
	}
	pause(ctx, time.Second)
	var slowest time.Duration
	for range s.rounds(5, 2) {
		filler, err := fillUp(ctx, disk)
		if err != nil {
			return "", err
		}
		if err := watchFull(ctx, st, s, uploads); err != nil {
			return "", err
		}
		if err := os.Remove(filler); err != nil {
			return "", err
		}
		back, err := writesAgain(ctx, st, fmt.Sprintf("again-%d-%d", s.seed, time.Now().UnixNano()), h, uploads)
		if err != nil {
			return "", err
		}
		slowest = max(slowest, back)
	}
	stopWriting()
	writers.Wait()
	if err := fullBackup(ctx, st, disk, h); err != nil {
		return "", err
	}
	if err := restartFull(ctx, st, s, disk, h, uploads); err != nil {
		return "", err
	}
	kept, err := uploads.check(ctx, st)
	if err != nil {
		return kept, err
	}
	figures, err := h.check(ctx, st)
	return fmt.Sprintf("writing again %s after space was free, %s, a backup without space is refused, "+
		"restarted without space, reports: %s", slowest.Round(time.Millisecond), kept, figures), err
}

func smallDisk(size int) (dir string, unmount func(), err error) {
	if dir, err = os.MkdirTemp("", "daawo-disk-"); err != nil {
		return "", nil, err
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=755", size)); err != nil {
		_ = os.Remove(dir)
		return "", nil, &os.PathError{Op: "mount", Path: dir, Err: err}
	}
	return dir, func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH); _ = os.Remove(dir) }, nil
}

// fillUp uses all free space. It stops below the database's reserve until the server has seen it: a
// small disk in memory is full within a check's pause, which no disk of a server is.
func fillUp(ctx context.Context, dir string) (filler string, err error) {
	if _, err := fillDisk(dir, 16<<20); err != nil {
		return "", err
	}
	pause(ctx, time.Second)
	return fillDisk(dir, 0)
}

// fillDisk uses all free space except `leave` bytes.
func fillDisk(dir string, leave int) (string, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return "", err
	}
	name := filepath.Join(dir, "filler")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	take := int(disk.Bavail)*int(disk.Bsize) - leave
	if leave == 0 {
		take = math.MaxInt // other processes keep writing
	}
	for size := 1 << 20; size > 0 && take > 0; {
		n, err := f.Write(make([]byte, min(size, take)))
		if take -= n; err != nil {
			size /= 2
		}
	}
	return name, nil
}

// watchFull checks the server's replies on a full disk.
func watchFull(ctx context.Context, st *server.Stack, s settings, uploads *photos) error {
	pause(ctx, time.Second) // the server checks the space four times per second
	for i := range s.rounds(20, 5) {
		for _, path := range []string{"/healthz", "/", "/so/report/", "/rest/v1/resources?select=id&apikey=" +
			st.Get("ANON_KEY")} {
			if code := get(ctx, st, path); code != http.StatusOK {
				return fmt.Errorf("%s returned %d on a full disk", path, code)
			}
		}
		if _, r, text := submit(ctx, st, fmt.Sprintf("full-%d-%d", s.seed, i)); !saysFull(r.status) {
			return fmt.Errorf("a report got %d on a full disk: %s", r.status, text)
		}
		if a := uploads.upload(ctx, st); !saysFull(a.status) {
			return fmt.Errorf("a photo got %d on a full disk: %s", a.status, a.body)
		}
		pause(ctx, 100*time.Millisecond)
	}
	return nil
}

// restartFull kills the server while the disk is nearly full. It must serve again before space is
// free.
func restartFull(ctx context.Context, st *server.Stack, s settings, disk string, h *history, uploads *photos) error {
	filler, err := fillDisk(disk, 24<<20) // less than the database's reserve, but enough for a start
	if err != nil {
		return err
	}
	if err := watchFull(ctx, st, s, uploads); err != nil {
		return err
	}
	_ = st.KillPostgres()
	st.KillServer()
	if err := st.Start(ctx); err != nil {
		return fmt.Errorf("restart on a full disk: %w", err)
	}
	if err := watchFull(ctx, st, s, uploads); err != nil {
		return fmt.Errorf("after the restart: %w", err)
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	_, err = writesAgain(ctx, st, fmt.Sprintf("started-%d", s.seed), h, uploads)
	return err
}

func saysFull(status int) bool {
	return status == http.StatusServiceUnavailable || status == http.StatusInsufficientStorage
}

// writesAgain waits until a report and a photo are acknowledged and returns how long that took.
func writesAgain(ctx context.Context, st *server.Stack, key string, h *history, uploads *photos) (time.Duration,
	error) {
	for begun := time.Now(); ; pause(ctx, 20*time.Millisecond) {
		o, r, text := submit(ctx, st, key)
		if o == accepted {
			h.add(entry{key: key, outcome: o, reference: r.Reference})
			a := uploads.upload(ctx, st)
			if a.status == http.StatusOK {
				return time.Since(begun), nil
			}
			text = a.body
			key += "-again"
		}
		if took := time.Since(begun); took > 20*time.Second || ctx.Err() != nil {
			return took, fmt.Errorf("writes still fail %s after space was free: %s", took.Round(time.Second), text)
		}
	}
}

// photos records which uploads were acknowledged.
type photos struct {
	sent, stored []string
}

// photo is a JPEG of one pixel.
var photo = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)), nil); err != nil {
		panic(err) // writing to a buffer cannot fail
	}
	return b.Bytes()
})

// upload sends a photo as the report form does.
func (p *photos) upload(ctx context.Context, st *server.Stack) answer {
	name := fmt.Sprintf("%d.jpg", time.Now().UnixMilli()+int64(len(p.sent)))
	p.sent = append(p.sent, name)
	a := call{path: photoPath + name, method: http.MethodPost, key: st.Get("ANON_KEY"),
		from: addressOf(name), kind: "image/jpeg", body: photo()}.send(ctx, st)
	if a.status == http.StatusOK {
		p.stored = append(p.stored, name)
	}
	return a
}

// check compares the acknowledged photos with the table and the files.
func (p *photos) check(ctx context.Context, st *server.Stack) (string, error) {
	conn, err := st.DB(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `select name from storage.objects where bucket_id = 'report-photos' order by name`)
	if err != nil {
		return "", err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	files := 0
	err = filepath.WalkDir(filepath.Join(st.Data(), "storage"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(path, "/report-photos/") {
			files++
		}
		return err
	})
	figures := fmt.Sprintf("%d of %d photos stored", len(found), len(p.sent))
	if want := slices.Sorted(slices.Values(p.stored)); err == nil &&
		(!slices.Equal(found, want) || files != len(want)) {
		err = fmt.Errorf("photos %v were acknowledged, stored are %v and %d files", want, found, files)
	}
	return figures, err
}

// fullBackup makes a backup to a disk that is too small, a backup without space for its test
// restore, and then one with enough space for both.
func fullBackup(ctx context.Context, st *server.Stack, disk string, h *history) error {
	small, unmount, err := smallDisk(2 << 20)
	if err != nil {
		return err
	}
	defer unmount()
	large, err := os.MkdirTemp("", "daawo-backups-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(large)
	if err := noBackup(ctx, st, small, "is full: free some space there"); err != nil {
		return err
	}

	filler, err := fillDisk(disk, 72<<20) // more than the database's reserve, but too little for a test restore
	if err != nil {
		return err
	}
	var besides error
	backing, backedUp := context.WithCancel(ctx)
	var sender sync.WaitGroup
	sender.Go(func() { besides = takesAll(backing, st, h) })
	err = noBackup(ctx, st, large, "disk full: the test restore of a backup to")
	backedUp()
	sender.Wait()
	if err := errors.Join(err, besides); err != nil {
		return err
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	_, err = st.Run(ctx, "backup", "--to", large)
	return err
}

// takesAll sends reports until ctx ends. Each must be acknowledged.
func takesAll(ctx context.Context, st *server.Stack, h *history) error {
	for ; ctx.Err() == nil; pause(ctx, 20*time.Millisecond) {
		key := fmt.Sprintf("beside-%d", time.Now().UnixNano())
		o, r, text := submit(context.WithoutCancel(ctx), st, key)
		if o != accepted {
			return fmt.Errorf("a report during a backup got %d: %s", r.status, text)
		}
		h.add(entry{key: key, outcome: o, reference: r.Reference})
	}
	return nil
}

// noBackup checks that a backup fails with the given words and does not count.
func noBackup(ctx context.Context, st *server.Stack, place, words string) error {
	if out, err := st.Run(ctx, "backup", "--to", place); err == nil || !strings.Contains(out, words) {
		return fmt.Errorf("a backup without space: %w: %s", cmp.Or(err, errors.New("it succeeded")), out)
	}
	if out, err := st.Run(ctx, "backup", "list", "--to", place); err == nil {
		return fmt.Errorf("a failed backup is listed: %s", out)
	}
	return nil
}
