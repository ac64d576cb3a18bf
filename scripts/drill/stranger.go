package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"daawo/scripts/server"
)

// strangerDrill is a client with nothing but the public key and one home line of IPv6, so with 256
// networks. It listens for reports, takes the places of photos, joins channels as fast as it can,
// asks for thousands of ranges, and then does such things for minutes. It must hear nothing, and a
// visitor from elsewhere must be served all the time.
func strangerDrill(ctx context.Context, s settings) (string, error) {
	st, err := server.New(ctx, s.binary, publicSite("9")...)
	if err != nil {
		return "", err
	}
	defer st.Close()
	d := &stranger{st: st}
	var figures []string
	var broken []error
	for _, part := range []func(context.Context, settings) (string, error){d.listen, d.takePlaces, d.flood, d.ranges, d.siege} {
		text, err := part(ctx, s)
		figures = append(figures, text)
		broken = append(broken, err)
	}
	return strings.Join(figures, "; "), errors.Join(broken...)
}

// stranger is the attacker, and the visitors beside it.
type stranger struct{ st *server.Stack }

const visitorAddress = "2001:db8:ffff::1"

// home returns one of the networks of the attacker's line.
func home(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i%256) }

// send sends a request with the public key, with a body by POST.
func (d *stranger) send(ctx context.Context, path, kind string, body []byte, from string) answer {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	c := call{path: path, method: method, key: d.st.Get("ANON_KEY"), from: from, kind: kind, body: body}
	return c.send(ctx, d.st)
}

// dial opens a socket of Realtime from an address.
func (d *stranger) dial(ctx context.Context, from string) (*websocket.Conn, error) {
	conn, _, err := websocket.Dial(ctx, d.st.Get("API_URL")+"/realtime/v1/websocket?vsn=2.0.0&apikey="+
		d.st.Get("ANON_KEY"), &websocket.DialOptions{HTTPHeader: http.Header{"X-Forwarded-For": {from}}})
	return conn, err
}

// listen joins every channel on which reports might be heard, and then sends reports.
func (d *stranger) listen(ctx context.Context, s settings) (string, error) {
	conn, err := d.dial(ctx, home(0))
	if err != nil {
		return "", err
	}
	defer conn.CloseNow()
	tables := []any{map[string]string{"event": "*", "schema": "public", "table": "reports"},
		map[string]string{"event": "*", "schema": "public", "table": "*"}}
	for _, private := range []bool{true, false} {
		for _, topic := range []string{"reports", "staff", "desk"} {
			join := map[string]any{"config": map[string]any{"private": private, "postgres_changes": tables}}
			if err := push(ctx, conn, "realtime:"+topic, "phx_join", join); err != nil {
				return "", err
			}
		}
	}
	heard := make(chan string, 1)
	go func() {
		var events []string
		for {
			_, text, err := conn.Read(ctx)
			if err != nil {
				heard <- strings.Join(events, " ")
				return
			}
			var parts []json.RawMessage
			if json.Unmarshal(text, &parts) != nil || len(parts) != 5 {
				continue
			}
			if event := string(parts[3]); event == `"broadcast"` || event == `"postgres_changes"` {
				events = append(events, string(text))
			}
		}
	}()
	pause(ctx, 3*time.Second)
	for i := range 3 {
		if o, _, _ := submit(ctx, d.st, fmt.Sprintf("stranger-%d-%d", s.seed, i)); o != accepted {
			return "", errors.New("a report was not accepted")
		}
	}
	pause(ctx, 3*time.Second)
	_ = conn.CloseNow()
	if events := <-heard; events != "" {
		return "", fmt.Errorf("a stranger hears of reports: %s", events)
	}
	return "3 reports, 0 events heard", nil
}

// takePlaces uploads tiny photos from one home line until none is accepted.
func (d *stranger) takePlaces(ctx context.Context, s settings) (string, error) {
	stored, refused := 0, 0
	upload := func(i int, from string) int {
		return d.send(ctx, photoPath+fmt.Sprintf("%d.gif", 1_700_000_000_000+i), "image/gif", tinyGIF, from).status
	}
	for i := range s.rounds(6000, 1500) {
		if status := upload(i, home(i)); status == http.StatusOK {
			stored++
		} else if refused++; refused > 300 {
			break
		}
	}
	figures := fmt.Sprintf("one home line takes %d of 5,000 places of photos", stored)
	if status := upload(9_000_000, visitorAddress); status != http.StatusOK {
		return figures, fmt.Errorf("a visitor's photo is refused beside it: %d", status)
	}
	if stored > 1000 {
		return figures, errors.New("one home line takes too many places of photos")
	}
	return figures, nil
}

// flood joins channels from one address as fast as it can, with sockets that it opens again.
func (d *stranger) flood(ctx context.Context, s settings) (string, error) {
	joins, most := 0, s.rounds(15_000, 4_000)
	begun := time.Now()
	for joins < most && time.Since(begun) < time.Minute {
		conn, err := d.dial(ctx, home(0))
		if err != nil {
			continue
		}
		for ; joins < most; joins++ {
			if push(ctx, conn, fmt.Sprintf("realtime:%d", joins), "phx_join",
				map[string]any{"config": map[string]any{"private": true}}) != nil {
				break
			}
		}
		_ = conn.CloseNow()
	}
	took := time.Since(begun)
	for range 8 { // over the tick in which all joins together are counted
		conn, err := d.dial(ctx, visitorAddress)
		if err != nil {
			return "", fmt.Errorf("a visitor cannot join Realtime after %d joins of another: %w", joins, err)
		}
		_ = conn.CloseNow()
		pause(ctx, time.Second)
	}
	return fmt.Sprintf("%d joins of one address in %s, others connect", joins, took.Round(100*time.Millisecond)), nil
}

// ranges asks for a page in 5,000 ranges of two bytes.
func (d *stranger) ranges(ctx context.Context, _ settings) (string, error) {
	a := call{path: "/", header: map[string]string{"Range": "bytes=0-1" + strings.Repeat(",0-1", 4999)}}.send(ctx, d.st)
	figures := fmt.Sprintf("5,000 ranges get %d KB", len(a.body)>>10)
	if a.err == nil && len(a.body) > 200<<10 {
		a.err = errors.New("many ranges make a reply that is longer than the page")
	}
	return figures, a.err
}
