package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"daawo/scripts/server"
)

// townAddress is the address of all clients of the town, a carrier's NAT.
const townAddress = "203.0.113.80"

// townDrill has 500 clients behind one address. Half of them send reports as people do, some with a
// photo, and retry when the server says that it is busy. The others send empty, broken, slow, huge
// and forged requests without a pause. Every honest report must arrive, once, and each with its
// photo or with the word that it has none.
func townDrill(ctx context.Context, s settings) (string, error) {
	st, err := server.New(ctx, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()
	window := time.Duration(s.rounds(300, 30)) * time.Second
	honest := s.rounds(250, 60)
	town := &town{st: st, photo: townPhoto(), refused: map[int]int{}}
	memoryBefore, peak := privateMB(st.PID()), 0

	hostile, stopHostile := context.WithTimeout(ctx, window)
	defer stopHostile()
	var attackers, people, watcher sync.WaitGroup
	for i := range honest {
		attackers.Go(func() { town.attack(hostile, i) })
	}
	watching, stopWatching := context.WithCancel(ctx)
	watcher.Go(func() {
		for ; watching.Err() == nil; pause(watching, 200*time.Millisecond) {
			peak = max(peak, privateMB(st.PID()))
		}
	})
	var mu sync.Mutex
	var waits []time.Duration
	for i := range honest {
		people.Go(func() {
			for n := range 2 { // two reports each, at any time of the window
				pause(ctx, time.Duration(rand.Int64N(int64(window/2))))
				begun := time.Now()
				town.report(ctx, fmt.Sprintf("town-%d-%d-%d", s.seed, i, n), (i+n)%2 == 0)
				mu.Lock()
				waits = append(waits, time.Since(begun))
				mu.Unlock()
			}
		})
	}
	people.Wait()
	stopHostile()
	attackers.Wait()
	stopWatching()
	watcher.Wait()
	arrived, err := town.history.check(ctx, st)
	figures := fmt.Sprintf("%d honest and %d hostile clients behind one address, %s: %s; %d with a photo, %d without the photo; %d hostile requests; "+
		"an honest report takes %s (p99 %s); server %d → %d MB", honest, honest, window, arrived, town.photos.Load(),
		town.lost.Load(), town.attacks.Load(), percentile(waits, 0.5).Round(time.Millisecond),
		percentile(waits, 0.99).Round(time.Millisecond), memoryBefore, peak)
	if len(waits) != 2*honest {
		err = errors.Join(err, fmt.Errorf("%d of %d honest reports were sent", len(waits), 2*honest))
	}
	for _, e := range town.history.entries {
		if e.outcome != accepted {
			return figures, errors.Join(err,
				fmt.Errorf("an honest report was not acknowledged; statuses: %v, last %s", town.refused, town.last))
		}
	}
	return figures, err
}

// town is what its clients share.
type town struct {
	st      *server.Stack
	photo   []byte
	history history
	photos  atomic.Int64 // reports with their photo
	lost    atomic.Int64 // reports that arrived without it
	attacks atomic.Int64

	mu      sync.Mutex
	refused map[int]int // statuses of honest requests that had to be repeated
	last    string      // the last such reply
}

// townPhoto returns a photo of about 300 kB, as the page shrinks it.
func townPhoto() []byte {
	for name, content := range jpegPhotos() {
		if name == "of an Android phone" {
			end := len(content) - 2
			return append(append(bytes.Clone(content[:end]), bytes.Repeat([]byte{0x5a}, 300_000)...), content[end:]...)
		}
	}
	return nil
}

// send waits longer than other drills, as a person does.
func (t *town) send(ctx context.Context, method, path, kind string, body []byte, header map[string]string) answer {
	return call{path: path, method: method, key: t.st.Get("ANON_KEY"), from: townAddress, kind: kind, body: body,
		header: header, within: time.Minute}.send(ctx, t.st)
}

// report sends one report until it is acknowledged, for at most two minutes.
func (t *town) report(ctx context.Context, key string, withPhoto bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	report := map[string]any{"product_name": key, "issue_description": "drill", "location": "Banaadir, Hodan",
		"photo_url": nil}
	if withPhoto {
		name := fmt.Sprintf("%d.jpg", time.Now().UnixMilli())
		a := t.send(ctx, http.MethodPost, photoPath+name, "image/jpeg", t.photo,
			map[string]string{"X-Metadata": "eyJjbGFpbSI6InRvd24ifQ=="}) // {"claim":"town"}
		if a.status < 300 && a.status > 0 {
			report["photo_url"] = name
		}
	}
	body, _ := json.Marshal(report)
	for ctx.Err() == nil {
		a := t.send(ctx, http.MethodPost, "/functions/v1/submit-report", "application/json", body,
			map[string]string{"Idempotency-Key": key, "Photo-Claim": "town"})
		var saved reply
		if a.status == http.StatusOK && json.Unmarshal(a.body, &saved) == nil && saved.Reference != "" {
			t.history.add(entry{key: key, outcome: accepted, reference: saved.Reference})
			switch {
			case withPhoto && report["photo_url"] != nil && !bytes.Contains(a.body, []byte("photo_attached")):
				t.photos.Add(1)
			case withPhoto:
				t.lost.Add(1)
			}
			return
		}
		t.mu.Lock()
		t.refused[a.status]++
		t.last = string(a.body)
		t.mu.Unlock()
		pause(ctx, time.Second+time.Duration(rand.Int64N(int64(time.Second))))
	}
	t.history.add(entry{key: key, outcome: unknown})
}

// attack sends hostile requests until ctx ends.
func (t *town) attack(ctx context.Context, i int) {
	const form = "application/x-www-form-urlencoded"
	for n := i; ctx.Err() == nil; n++ {
		switch n % 8 {
		case 0:
			t.send(ctx, http.MethodPost, "/functions/v1/submit-report", form, nil, nil)
		case 1:
			t.send(ctx, http.MethodPost, "/functions/v1/submit-report", "application/json", []byte(`{"product_name":`),
				nil)
		case 2:
			t.send(ctx, http.MethodPost, "/functions/v1/submit-report", form,
				[]byte("product_name=x&issue_description=y&phone=1&location=z"),
				map[string]string{"Sec-Fetch-Site": "cross-site"})
		case 3:
			t.send(ctx, http.MethodPost, fmt.Sprintf("/storage/v1/object/report-photos/%d.gif",
				1_000_000_000_000+rand.Int64N(1e12)), "image/gif", tinyGIF, nil)
		case 4:
			var b bytes.Buffer
			w := multipart.NewWriter(&b)
			part, _ := w.CreateFormFile("photo", "a.jpg") // a bytes.Buffer never fails
			_, _ = part.Write(t.photo)
			_ = w.Close()
			t.send(ctx, http.MethodPost, "/functions/v1/submit-report", w.FormDataContentType(), b.Bytes(), nil)
		case 5:
			t.trickle(ctx)
		case 6:
			t.send(ctx, http.MethodPost, "/auth/v1/token?grant_type=password", "application/json",
				[]byte(`{"email":"a@example.org","password":"guess"}`), nil)
		case 7:
			t.send(ctx, http.MethodGet, "/rest/v1/reports?select=*&order="+strings.Repeat("a", 500), "application/json",
				nil, nil)
		}
		t.attacks.Add(1)
		pause(ctx, 100*time.Millisecond)
	}
}

// trickle holds a connection with an upload that never ends.
func (t *town) trickle(ctx context.Context) {
	address := server.HostOf(t.st.Get("API_URL"))
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /storage/v1/object/report-photos/1700000000000.png HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\nApikey: %s\r\n"+
		"Content-Type: image/png\r\nContent-Length: 4000000\r\n\r\n", address, townAddress, t.st.Get("ANON_KEY"))
	for range 10 {
		if _, err := conn.Write([]byte("a")); err != nil || ctx.Err() != nil {
			return
		}
		pause(ctx, 300*time.Millisecond)
	}
}

// tinyGIF is an image of 43 bytes.
var tinyGIF = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")
