// Command splitter is a load balancer for tests. It sends each request to a random server, so two
// requests of a client often reach different servers.
//
//	go run ./scripts/splitter http://127.0.0.1:54321 http://127.0.0.1:54331
//
// It prints its address and, at the end, the number of requests of each server. It fails if one
// server got less than a quarter of its share.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "splitter:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addresses []string) error {
	if len(addresses) < 2 {
		return errors.New("usage: splitter URL URL …")
	}
	targets := make([]*url.URL, len(addresses))
	for i, a := range addresses {
		u, err := url.Parse(a)
		if err != nil {
			return err
		}
		targets[i] = u
	}
	counts := make([]atomic.Int64, len(targets))
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		i := rand.IntN(len(targets))
		counts[i].Add(1)
		r.SetURL(targets[i])
		r.Out.Host = r.In.Host // links point to the splitter
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	server := &http.Server{Handler: proxy}
	go func() { <-ctx.Done(); _ = server.Close() }()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return verdict(addresses, counts)
}

func verdict(addresses []string, counts []atomic.Int64) error {
	total := int64(0)
	for i := range counts {
		total += counts[i].Load()
	}
	for i := range counts {
		n := counts[i].Load()
		fmt.Printf("%s: %d requests\n", addresses[i], n)
		if n*int64(len(counts))*4 < total { // a quarter of its share
			return fmt.Errorf("%s had %d of %d requests", addresses[i], n, total)
		}
	}
	return nil
}
