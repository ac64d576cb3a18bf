package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"daawo/scripts/server"
)

// peer is a client of Realtime. It connects again whenever its connection ends, and reads the table
// again whenever it is told that it is subscribed to the table.
type peer struct {
	name    string
	servers []*server.Stack // it goes to the next one when one does not answer
	sending bool            // sends a broadcast now and then

	mu       sync.Mutex
	at       *server.Stack // of the present session; nil between sessions
	session  int
	confirms int  // how often the table was read again
	current  bool // subscribed, and the table has been read since
	present  attendance
	rows     map[int64]bool   // known rows above floor
	floor    int64            // all rows up to this one are known
	changed  map[int64]bool   // rows of the changes of this session
	last     int64            // the highest row of a change of any session
	heard    map[string]int64 // number of the last broadcast of each sender
	received int64            // broadcasts
	sent     int64
	fault    string // the first broken promise
}

func newPeer(name string, sending bool, servers ...*server.Stack) *peer {
	return &peer{name: name, servers: servers, sending: sending, rows: map[int64]bool{}, heard: map[string]int64{}}
}

// run keeps the peer connected until ctx ends.
func (p *peer) run(ctx context.Context) {
	for turn := 0; ctx.Err() == nil; {
		if connected, _ := p.connect(ctx, p.servers[turn%len(p.servers)]); !connected {
			turn++
		}
		pause(ctx, listenerRetries)
	}
}

const replicasTopic = "realtime:replicas"

// connect is one session. connected reports whether the server answered.
func (p *peer) connect(ctx context.Context, at *server.Stack) (connected bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dial, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	conn, _, err := websocket.Dial(dial, at.Get("API_URL")+"/realtime/v1/websocket?vsn=2.0.0&apikey="+
		at.Get("ANON_KEY"), nil)
	if err != nil {
		return false, err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	p.begin(at)
	defer p.end()
	join := map[string]any{"config": map[string]any{
		"presence":         map[string]any{"enabled": true, "key": p.name},
		"postgres_changes": []any{map[string]string{"event": "INSERT", "schema": "public", "table": "drill_rows"}},
	}}
	track := map[string]any{"type": "presence", "event": "track", "payload": map[string]any{}}
	for _, m := range []struct {
		event   string
		payload any
	}{{"phx_join", join}, {"presence", track}} {
		if err := push(ctx, conn, replicasTopic, m.event, m.payload); err != nil {
			return true, err
		}
	}
	go p.talk(ctx, conn)
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return true, err
		}
		confirmed, err := p.take(text)
		if err != nil {
			return true, err
		}
		if confirmed {
			go func() {
				if err := p.reread(ctx, at); err != nil {
					cancel()
				}
			}()
		}
	}
}

// push sends a message of a channel.
func push(ctx context.Context, conn *websocket.Conn, topic, event string, payload any) error {
	text, err := json.Marshal([]any{"1", "1", topic, event, payload})
	if err != nil {
		return err
	}
	return conn.Write(ctx, websocket.MessageText, text)
}

func (p *peer) begin(at *server.Stack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session++
	p.at, p.current, p.present, p.changed = at, false, attendance{}, map[int64]bool{}
}

func (p *peer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.current, p.present = nil, false, attendance{}
}

// talk sends numbered broadcasts and heartbeats until the session ends.
func (p *peer) talk(ctx context.Context, conn *websocket.Conn) {
	for turn := 0; ctx.Err() == nil; turn++ {
		if turn%100 == 99 {
			_ = push(ctx, conn, "phoenix", "heartbeat", map[string]any{}) // the reader notices a dead connection
		}
		if p.sending {
			p.mu.Lock()
			p.sent++
			n := p.sent
			p.mu.Unlock()
			_ = push(ctx, conn, replicasTopic, "broadcast", map[string]any{
				"type": "broadcast", "event": "count", "payload": count{Sender: p.name, N: n},
			})
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// count is the payload of a broadcast.
type count struct {
	Sender string `json:"sender"`
	N      int64  `json:"n"`
}

// take handles a message. confirmed means that later changes arrive, so that the table can be read.
// It returns an error if the channel has ended.
func (p *peer) take(text []byte) (confirmed bool, err error) {
	var parts []json.RawMessage
	var event string
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 5 {
		return false, fmt.Errorf("malformed message %s", text)
	}
	if err := json.Unmarshal(parts[3], &event); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch event {
	case "phx_close", "phx_error":
		return false, fmt.Errorf("the channel has ended")
	case "system":
		var m struct{ Extension, Status string }
		err := json.Unmarshal(parts[4], &m)
		return m.Extension == "postgres_changes" && m.Status == "ok", err
	case "postgres_changes":
		return false, p.change(parts[4])
	case "broadcast":
		return false, p.hear(parts[4])
	case "presence_state", "presence_diff":
		return false, p.present.apply(event, parts[4])
	}
	return false, nil
}

// change notes a row that arrived as a change. The caller holds mu.
func (p *peer) change(payload []byte) error {
	var change struct {
		Data struct{ Record struct{ ID int64 } }
	}
	if err := json.Unmarshal(payload, &change); err != nil {
		return err
	}
	id := change.Data.Record.ID
	if p.changed[id] {
		p.blame("%s got the change of row %d twice", p.name, id)
	}
	p.changed[id] = true
	p.last = max(p.last, id)
	p.know(id)
	return nil
}

// know notes a row. The caller holds mu.
func (p *peer) know(id int64) {
	if id > p.floor {
		p.rows[id] = true
	}
	for p.rows[p.floor+1] {
		p.floor++
		delete(p.rows, p.floor)
	}
}

// hear notes a broadcast. The numbers of one sender grow. The caller holds mu.
func (p *peer) hear(payload []byte) error {
	var m struct{ Payload count }
	if err := json.Unmarshal(payload, &m); err != nil {
		return err
	}
	p.received++
	if last := p.heard[m.Payload.Sender]; m.Payload.N <= last {
		p.blame("%s got broadcast %d of %s after %d", p.name, m.Payload.N, m.Payload.Sender, last)
	}
	p.heard[m.Payload.Sender] = m.Payload.N
	return nil
}

// blame keeps the first broken promise. The caller holds mu.
func (p *peer) blame(format string, args ...any) {
	if p.fault == "" {
		p.fault = fmt.Sprintf(format, args...)
	}
}

// reread reads the rows that are not known yet over REST, as a client does after it was subscribed.
func (p *peer) reread(ctx context.Context, at *server.Stack) error {
	p.mu.Lock()
	session, floor := p.session, p.floor
	p.mu.Unlock()
	for {
		rows, err := rowsAbove(ctx, at, floor)
		if err != nil {
			return err
		}
		p.mu.Lock()
		for _, id := range rows {
			p.know(id)
			floor = max(floor, id)
		}
		if len(rows) == 0 && p.session == session {
			p.current = true
			p.confirms++
		}
		p.mu.Unlock()
		if len(rows) == 0 {
			return nil
		}
	}
}

// rowsAbove returns the next rows of the table, a page of them.
func rowsAbove(ctx context.Context, at *server.Stack, floor int64) ([]int64, error) {
	path := fmt.Sprintf("/rest/v1/drill_rows?select=id&order=id&id=gt.%d", floor)
	a := call{path: path, key: at.Get("ANON_KEY")}.send(ctx, at)
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("the table replies %d: %s, %v", a.status, a.body, a.err)
	}
	var page []struct{ ID int64 }
	if err := json.Unmarshal(a.body, &page); err != nil {
		return nil, err
	}
	ids := make([]int64, len(page))
	for i, row := range page {
		ids[i] = row.ID
	}
	return ids, nil
}

// view is what a peer knows at a moment.
type peerView struct {
	at       *server.Stack
	current  bool
	confirms int
	members  roster
	floor    int64
	last     int64
	heard    map[string]int64
	sent     int64
	fault    string
}

func (p *peer) view() peerView {
	p.mu.Lock()
	defer p.mu.Unlock()
	return peerView{p.at, p.current, p.confirms, maps.Clone(p.present.members), p.floor, p.last, maps.Clone(p.heard),
		p.sent, p.fault}
}
