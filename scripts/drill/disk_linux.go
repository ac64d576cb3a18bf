package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
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

	"daawo/scripts/stack"

	"github.com/jackc/pgx/v5"
)

// diskDrill fills a small disk under load: reports and photos are refused as long as there is no room and leave nothing
// behind, pages and reads go on, also after a start without room, and writing comes back by itself with the room. A backup
// whose disk fills up says so and does not count.
func diskDrill(ctx context.Context, s settings) (string, error) {
	disk, unmount, err := smallDisk(256 << 20)
	if errors.Is(err, os.ErrPermission) {
		return "", fmt.Errorf("%w: it needs root, to mount a small disk", errNotRun)
	} else if err != nil {
		return "", err
	}
	defer unmount()
	st, err := stack.NewIn(ctx, disk, s.binary)
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
		filler, err := fillDisk(disk, 0)
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
	return fmt.Sprintf("writing again %s after there was room, %s, a backup without room is refused, started again without room, reports: %s", slowest.Round(time.Millisecond), kept, figures), err
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

// fillDisk takes all room but some bytes.
func fillDisk(dir string, leave int) (string, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return "", err
	}
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	take := int(disk.Bavail)*int(disk.Bsize) - leave
	if leave == 0 {
		take = math.MaxInt // the others write on
	}
	for size := 1 << 20; size > 0 && take > 0; {
		n, err := f.Write(make([]byte, min(size, take)))
		if take -= n; err != nil {
			size /= 2
		}
	}
	return name, nil
}

// watchFull checks what the server says on a full disk.
func watchFull(ctx context.Context, st *stack.Stack, s settings, uploads *photos) error {
	pause(ctx, time.Second) // the server looks four times a second
	api := st.Get("API_URL")
	for i := range s.rounds(20, 5) {
		for _, path := range []string{"/healthz", "/", "/so/report/", "/rest/v1/resources?select=id&apikey=" + st.Get("ANON_KEY")} {
			if code, _ := get(ctx, api+path); code != http.StatusOK {
				return fmt.Errorf("%s answered %d on a full disk", path, code)
			}
		}
		if _, r, text := submit(ctx, st, fmt.Sprintf("full-%d-%d", s.seed, i)); !saysFull(r.status) {
			return fmt.Errorf("a report was answered with %d on a full disk: %s", r.status, text)
		}
		if status, text := uploads.upload(ctx, st); !saysFull(status) {
			return fmt.Errorf("a photo was answered with %d on a full disk: %s", status, text)
		}
		pause(ctx, 100*time.Millisecond)
	}
	return nil
}

// restartFull is a machine that goes down while its disk is nearly full: it serves again before there is room.
func restartFull(ctx context.Context, st *stack.Stack, s settings, disk string, h *history, uploads *photos) error {
	filler, err := fillDisk(disk, 24<<20) // less than is kept for the database, and enough for it to start
	if err != nil {
		return err
	}
	if err := watchFull(ctx, st, s, uploads); err != nil {
		return err
	}
	_ = st.KillPostgres()
	st.KillServer()
	if err := st.Start(ctx); err != nil {
		return fmt.Errorf("started again on a full disk: %w", err)
	}
	if err := watchFull(ctx, st, s, uploads); err != nil {
		return fmt.Errorf("started again: %w", err)
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

// writesAgain says after how long a report and a photo are acknowledged.
func writesAgain(ctx context.Context, st *stack.Stack, key string, h *history, uploads *photos) (time.Duration, error) {
	for begun := time.Now(); ; pause(ctx, 20*time.Millisecond) {
		o, r, text := submit(ctx, st, key)
		if o == accepted {
			h.add(entry{key: key, outcome: o, reference: r.Reference})
			var status int
			if status, text = uploads.upload(ctx, st); status == http.StatusOK {
				return time.Since(begun), nil
			}
			key += "-again"
		}
		if took := time.Since(begun); took > 20*time.Second || ctx.Err() != nil {
			return took, fmt.Errorf("not everything is taken %s after there was room: %s", took.Round(time.Second), text)
		}
	}
}

// photos remembers which uploads were acknowledged.
type photos struct {
	sent, stored []string
}

// photo is a white picture of one pixel.
var photo = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)), nil); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
})

// upload sends a photo as the report form does. Its status is 0 when no answer came.
func (p *photos) upload(ctx context.Context, st *stack.Stack) (status int, text []byte) {
	name := fmt.Sprintf("%d.jpg", time.Now().UnixMilli()+int64(len(p.sent)))
	p.sent = append(p.sent, name)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, st.Get("API_URL")+"/storage/v1/object/report-photos/"+name, bytes.NewReader(photo()))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Content-Type", "image/jpeg")
	req.Header.Set("apikey", st.Get("ANON_KEY"))
	req.Header.Set("Authorization", "Bearer "+st.Get("ANON_KEY"))
	req.Header.Set("X-Forwarded-For", addressOf(name))
	res, err := client.Do(req)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	if text, err = io.ReadAll(io.LimitReader(res.Body, 1<<20)); err != nil {
		return 0, nil
	}
	if res.StatusCode == http.StatusOK {
		p.stored = append(p.stored, name)
	}
	return res.StatusCode, text
}

// check compares the acknowledged photos with the table and with the files.
func (p *photos) check(ctx context.Context, st *stack.Stack) (string, error) {
	conn, err := st.DB(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `select name from storage.objects where bucket_id = 'report-photos' order by name`)
	if err != nil {
		return "", err
	}
	there, err := pgx.CollectRows(rows, pgx.RowTo[string])
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
	figures := fmt.Sprintf("%d of %d photos stored", len(there), len(p.sent))
	if want := slices.Sorted(slices.Values(p.stored)); err == nil && (!slices.Equal(there, want) || files != len(want)) {
		err = fmt.Errorf("photos %v were acknowledged, there are %v and %d files", want, there, files)
	}
	return figures, err
}

// fullBackup stores a backup on a disk that is too small for it, one whose proof would take the room that the database
// needs, and then one where there is room for both.
func fullBackup(ctx context.Context, st *stack.Stack, disk string, h *history) error {
	small, unmount, err := smallDisk(2 << 20)
	if err != nil {
		return err
	}
	defer unmount()
	roomy, err := os.MkdirTemp("", "daawo-backups-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(roomy)
	if err := noBackup(ctx, st, small, "is full: free some space there"); err != nil {
		return err
	}

	filler, err := fillDisk(disk, 72<<20) // more than is kept for the database, less than the proof wants beside that
	if err != nil {
		return err
	}
	var besides error
	backing, backedUp := context.WithCancel(ctx)
	var sender sync.WaitGroup
	sender.Go(func() { besides = takesAll(backing, st, h) })
	err = noBackup(ctx, st, roomy, "disk full: a backup is restored to")
	backedUp()
	sender.Wait()
	if err := errors.Join(err, besides); err != nil {
		return err
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	_, err = st.Run(ctx, "backup", "--to", roomy)
	return err
}

// takesAll sends reports until ctx ends, each of which must be acknowledged.
func takesAll(ctx context.Context, st *stack.Stack, h *history) error {
	for ; ctx.Err() == nil; pause(ctx, 20*time.Millisecond) {
		key := fmt.Sprintf("beside-%d", time.Now().UnixNano())
		o, r, text := submit(context.WithoutCancel(ctx), st, key)
		if o != accepted {
			return fmt.Errorf("a report beside a backup was answered with %d: %s", r.status, text)
		}
		h.add(entry{key: key, outcome: o, reference: r.Reference})
	}
	return nil
}

// noBackup expects that a backup is refused with some words, and that nothing of it counts.
func noBackup(ctx context.Context, st *stack.Stack, place, words string) error {
	if out, err := st.Run(ctx, "backup", "--to", place); err == nil || !strings.Contains(out, words) {
		return fmt.Errorf("a backup without room: %w: %s", cmp.Or(err, errors.New("it was called good")), out)
	}
	if out, err := st.Run(ctx, "backup", "list", "--to", place); err == nil {
		return fmt.Errorf("a backup that found no room counts: %s", out)
	}
	return nil
}
