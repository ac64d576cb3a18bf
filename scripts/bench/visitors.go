package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// thinking is the mean time between two requests of a visitor.
const thinking = 5 * time.Second

// crowdGoals are the longest times of 99 of 100 requests while a thousand visitors are on the site.
var crowdGoals = map[string]time.Duration{"page": 150 * time.Millisecond, "report": time.Second}

// crowd measures the site with many visitors at the same time. Each has a connection and an address
// of its own. Their requests arrive independently of the replies, and a reply's time counts from
// the arrival.
func (c choice) crowd(ctx context.Context, m *model) error {
	if err := m.warm(ctx); err != nil {
		return err
	}
	visitors := make([]context.Context, c.visitors)
	for i := range visitors {
		transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: visitorAddress(i)}).DialContext}
		defer transport.CloseIdleConnections()
		visitors[i] = context.WithValue(ctx, visitorKey{}, http.RoundTripper(transport))
	}
	plain := m.client.Transport
	m.client.Transport = visitorTransport{plain}
	defer func() { m.client.Transport = plain }()
	as := func() context.Context { return visitors[rand.IntN(len(visitors))] }
	rate := float64(c.visitors) / thinking.Seconds()
	r := m.measure(ctx, fmt.Sprintf("%d visitors", c.visitors), m.kinds(), rate, 3*c.length, as)

	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s, %.0f/s\tanswered\tp50\tp99\tp99.9\tlongest\tgoal of p99\t\n", r.name, rate)
	var missed []error
	for _, k := range m.kinds() {
		took := r.byKind[k.name]
		slices.Sort(took)
		p99, goal := percentile(took, 0.99), crowdGoals[k.name]
		shown := "–"
		if goal > 0 {
			shown = goal.String()
		}
		if goal > 0 && p99 > goal {
			missed = append(missed, fmt.Errorf("%s of %s: p99 %s is longer than %s", r.name, k.name, round(p99), goal))
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t\n", k.name, len(took), round(percentile(took, 0.5)),
			round(p99), round(percentile(took, 0.999)), round(percentile(took, 1)), shown)
	}
	if r.failed > 0 {
		missed = append(missed, fmt.Errorf("%s: %d requests failed", r.name, r.failed))
	}
	fmt.Fprintf(table, "server CPU %s and Postgres CPU %s per request\t\t\t\t\t\t\t\n", round(r.server),
		round(r.postgres))
	return errors.Join(append(missed, table.Flush())...)
}

// visitorAddress returns a loopback address of its own for each visitor, or nil if the system has
// only 127.0.0.1.
func visitorAddress(i int) net.Addr {
	if runtime.GOOS != "linux" {
		return nil
	}
	return &net.TCPAddr{IP: net.IPv4(127, 1, byte(i>>8), byte(i))}
}

type visitorKey struct{}

// visitorTransport sends a request on the connection of its visitor.
type visitorTransport struct{ others http.RoundTripper }

func (t visitorTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if own, ok := r.Context().Value(visitorKey{}).(http.RoundTripper); ok {
		return own.RoundTrip(r)
	}
	return t.others.RoundTrip(r)
}
