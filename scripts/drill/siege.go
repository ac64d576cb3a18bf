package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// siege keeps the attacks of the drill up from one home line, also with sockets that stay open and
// with requests for mails, while a visitor from elsewhere reads, uploads, reports and connects. No
// request of the visitor may fail.
func (d *stranger) siege(ctx context.Context, s settings) (string, error) {
	length := 9 * time.Minute
	if s.short {
		length = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var attackers sync.WaitGroup
	attacks := make([]int, 4)
	for i, attack := range []func(context.Context, int){d.holdSocket, d.uploadTiny, d.askMail, d.floodRequests} {
		attackers.Go(func() {
			for ; ctx.Err() == nil; pause(ctx, 10*time.Millisecond) {
				attack(ctx, attacks[i])
				attacks[i]++
			}
		})
	}
	var took []time.Duration
	var failed []error
	for n := 0; ctx.Err() == nil; n++ {
		begun := time.Now()
		err := d.visit(ctx, fmt.Sprintf("siege-%d-%d", s.seed, n))
		if ctx.Err() != nil {
			break
		}
		took = append(took, time.Since(begun))
		if err != nil {
			failed = append(failed, err)
		}
		pause(ctx, 500*time.Millisecond)
	}
	attackers.Wait()
	figures := fmt.Sprintf("in %s of %d sockets, %d photos, %d mails and %d bursts of a home line %d visits, %d failed, p99 %s",
		length, attacks[0], attacks[1], attacks[2], attacks[3], len(took), len(failed), percentile(took, 0.99).Round(time.Millisecond))
	if len(took) == 0 {
		return figures, errors.New("no visit ended")
	}
	return figures, errors.Join(failed...)
}

// visit is what a visitor does who reads a page and sends a report with a photo.
func (d *stranger) visit(ctx context.Context, key string) error {
	for _, path := range []string{"/", "/rest/v1/resources?select=title&limit=3"} {
		if a := d.send(ctx, path, "", nil, visitorAddress); a.status != http.StatusOK {
			return fmt.Errorf("visit of %s: status %d, %v", path, a.status, a.err)
		}
	}
	if o, _, _ := submit(ctx, d.st, key); o != accepted {
		return errors.New("visit: a report is not accepted")
	}
	conn, err := d.dial(ctx, visitorAddress)
	if err != nil {
		return fmt.Errorf("visit: no socket: %w", err)
	}
	return conn.CloseNow()
}

// holdSocket opens a socket and leaves it open until the siege ends.
func (d *stranger) holdSocket(ctx context.Context, n int) {
	if conn, err := d.dial(ctx, home(n)); err == nil {
		context.AfterFunc(ctx, func() { _ = conn.CloseNow() })
	}
}

func (d *stranger) uploadTiny(ctx context.Context, n int) {
	d.send(ctx, photoPath+fmt.Sprintf("%d.gif", 1_800_000_000_000+n), "image/gif", tinyGIF, home(n))
}

func (d *stranger) askMail(ctx context.Context, n int) {
	d.send(ctx, "/auth/v1/otp", "application/json",
		fmt.Appendf(nil, `{"email":"unknown%d@example.org","create_user":false}`, n), home(n))
}

// floodRequests sends joins over one socket and requests until the server refuses them.
func (d *stranger) floodRequests(ctx context.Context, n int) {
	for range 50 {
		d.send(ctx, "/rest/v1/resources?select=title", "", nil, home(n))
	}
	conn, err := d.dial(ctx, home(n))
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for i := range 200 {
		if push(ctx, conn, fmt.Sprintf("realtime:%d", i), "phx_join", map[string]any{"config": map[string]any{}}) != nil {
			return
		}
	}
}
