package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"daawo/scripts/server"
)

// client sends the requests of all drills. It has no time limit of its own.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}

// call is one request to the stack.
type call struct {
	path   string
	method string // "" for GET
	key    string // API key; "" for none
	from   string // address of the client; "" for this machine's
	kind   string // content type of the body
	body   []byte
	header map[string]string
	within time.Duration // time limit; 0 for 10 s
}

// answer is a whole reply. Without one status is 0 and err says why; header is nil if not even that
// has arrived.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
}

func (c call) send(ctx context.Context, st *server.Stack) (a answer) {
	if c.within == 0 {
		c.within = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, c.method, st.Get("API_URL")+c.path, bytes.NewReader(c.body))
	if err != nil {
		return answer{err: err}
	}
	set := func(name, prefix, value string) {
		if value != "" {
			req.Header.Set(name, prefix+value)
		}
	}
	set("Apikey", "", c.key)
	set("Authorization", "Bearer ", c.key)
	set("X-Forwarded-For", "", c.from)
	set("Content-Type", "", c.kind)
	for name, value := range c.header {
		set(name, "", value)
	}
	res, err := client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	a.header = res.Header
	if a.body, a.err = io.ReadAll(io.LimitReader(res.Body, 16<<20)); a.err == nil {
		a.status = res.StatusCode
	}
	return a
}

// photoPath is the path of the photos of reports, without their names.
const photoPath = "/storage/v1/object/report-photos/"

// get fetches a path as a visitor without a key and returns the status, 0 without a whole reply.
func get(ctx context.Context, st *server.Stack, path string) int {
	return call{path: path}.send(ctx, st).status
}

// metric returns a value without labels of /metrics.
func metric(ctx context.Context, st *server.Stack, name string) (float64, error) {
	a := call{path: "/metrics"}.send(ctx, st)
	_, rest, ok := strings.Cut(string(a.body), "\n"+name+" ")
	if !ok {
		return 0, fmt.Errorf("/metrics (%d, %v) has no %s", a.status, a.err, name)
	}
	value, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseFloat(value, 64)
}
