package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	"daawo/scripts/server"
)

// restoreAnyMomentDrill sends reports with photos, replaces some photos and deletes others, as
// clean-up jobs and reviewers do. Then it restores the installation to random moments of that time.
// At each, every photo that the database names must open with its whole content.
func restoreAnyMomentDrill(ctx context.Context, s settings) (string, error) {
	store, err := os.MkdirTemp("", "daawo-backups-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(store)
	st, err := server.New(ctx, s.binary, "BACKUP_TO="+store)
	if err != nil {
		return "", err
	}
	defer st.Close()
	if err := awaitBackup(ctx, st); err != nil {
		return "", err
	}
	random := rand.New(rand.NewPCG(uint64(s.seed), 2))
	window := time.Duration(s.rounds(120, 25)) * time.Second
	album := &album{town: town{st: st, photo: townPhoto(), refused: map[int]int{}}}
	begin, err := databaseTime(ctx, st)
	if err != nil {
		return "", err
	}
	writing, stop := context.WithTimeout(ctx, window)
	defer stop()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() { album.write(writing, ctx, fmt.Sprintf("moment-%d-%d", s.seed, w)) })
	}
	writers.Wait()
	pause(ctx, 50*time.Second) // Postgres hands over its log after 30 s
	st.KillServer()

	// Away from BACKUP_TO: the restored servers must not add to it.
	kept := store + ".kept"
	if err := os.Rename(store, kept); err != nil {
		return "", err
	}
	defer os.RemoveAll(kept)
	figures := fmt.Sprintf("%d reports with photos, %d photos replaced, %d deleted", album.photos.Load(),
		album.replaced,
		album.deleted)
	opened, broken := 0, []error{}
	moments := s.rounds(12, 3)
	for range moments {
		moment := begin.Add(time.Duration(random.Int64N(int64(window))))
		if err := restore(ctx, st, "--from", kept, "--to", moment.UTC().Format(time.RFC3339Nano)); err != nil {
			return figures, err
		}
		n, err := openPhotos(ctx, st)
		opened += n
		if err != nil {
			broken = append(broken, fmt.Errorf("restored to %s: %w", moment.UTC().Format(time.RFC3339Nano), err))
		}
		st.KillServer()
	}
	figures += fmt.Sprintf("; %d moments, %d photos opened", moments, opened)
	if opened == 0 || album.replaced == 0 || album.deleted == 0 {
		broken = append(broken, errors.New("too few photos: the drill is inconclusive"))
	}
	return figures, errors.Join(broken...)
}

// shortLife is how long the first versions of photos live at most: some are gone before the backup
// ships files the next time.
const shortLife = 8 * time.Second

// album sends reports with photos and changes their files.
type album struct {
	town
	mu                sync.Mutex
	replaced, deleted int
}

// write sends reports until sending ends. After every second report it replaces the photo, and
// after every fourth it deletes the report and then its photo.
func (a *album) write(sending, ctx context.Context, prefix string) {
	var changes sync.WaitGroup
	defer changes.Wait()
	for n := 0; sending.Err() == nil; n++ {
		a.report(ctx, fmt.Sprintf("%s-%d", prefix, n), true)
		switch n % 4 {
		case 1, 3:
			changes.Go(func() {
				pause(ctx, time.Duration(rand.Int64N(int64(shortLife))))
				a.change(ctx, fmt.Sprintf("%s-%d", prefix, n), n%4 == 3)
			})
		}
		pause(sending, 800*time.Millisecond) // below the limit of one client
	}
}

// change replaces the photo of a report, or deletes the report and its photo.
func (a *album) change(ctx context.Context, key string, remove bool) {
	conn, err := a.st.DB(ctx)
	if err != nil {
		return
	}
	defer conn.Close(ctx)
	var photo *string
	if conn.QueryRow(ctx, `select photo_url from public.reports where product_name = $1`, key).Scan(&photo) != nil ||
		photo == nil {
		return
	}
	method, body := http.MethodPut, a.photo
	if remove {
		if _, err := conn.Exec(ctx, `delete from public.reports where product_name = $1`, key); err != nil {
			return
		}
		method, body = http.MethodDelete, nil
	}
	status := call{path: photoPath + *photo, method: method, key: a.st.Get("SERVICE_ROLE_KEY"), kind: "image/jpeg",
		body: body}.send(ctx, a.st).status
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case status >= 300 || status == 0:
	case remove:
		a.deleted++
	default:
		a.replaced++
	}
}

// openPhotos downloads the photos of all reports and all objects, and returns their number.
func openPhotos(ctx context.Context, st *server.Stack) (opened int, err error) {
	conn, err := st.DB(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `
		select coalesce(o.name, r.photo_url), coalesce((o.metadata ->> 'size')::bigint, -1)
		  from (select name, metadata from storage.objects where bucket_id = 'report-photos') as o
		  full join (select photo_url from public.reports where photo_url is not null) as r on r.photo_url = o.name`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var missing []error
	for rows.Next() {
		var name string
		var size int64
		if err := rows.Scan(&name, &size); err != nil {
			return opened, err
		}
		a := call{path: photoPath + name, key: st.Get("SERVICE_ROLE_KEY")}.send(ctx, st)
		if got := int64(len(a.body)); a.status != http.StatusOK || got != size {
			missing = append(missing, fmt.Errorf("%s: status %d, %d bytes of %d: %v", name, a.status, got, size, a.err))
			continue
		}
		opened++
	}
	if len(missing) > 0 {
		return opened, fmt.Errorf("%d photos do not open, such as %w", len(missing), missing[0])
	}
	return opened, rows.Err()
}
