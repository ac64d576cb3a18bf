package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

// startRounds is the number of starts of each kind and program.
const startRounds = 7

// starts measures first and warm starts, of the older program too, in turns. A start takes from the
// command until the home page has been answered.
func (c choice) starts(ctx context.Context) error {
	programs := []string{c.binary}
	if c.old != "" {
		programs = append(programs, c.old)
	}
	first, warm := make([][]time.Duration, len(programs)), make([][]time.Duration, len(programs))
	for round := range startRounds + 1 {
		for i, program := range programs {
			took, err := startTwice(ctx, program)
			if err != nil {
				return fmt.Errorf("%s: %w", program, err)
			}
			if round > 0 { // the first one unpacks Postgres
				first[i], warm[i] = append(first[i], took[0]), append(warm[i], took[1])
			}
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "program\tstart\tfastest\tmedian\tslowest\t")
	for i, program := range programs {
		for k, list := range [][]time.Duration{first[i], warm[i]} {
			slices.Sort(list)
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t\n", program, []string{"first", "warm"}[k], round(list[0]),
				round(list[len(list)/2]), round(list[len(list)-1]))
		}
	}
	return table.Flush()
}

// startTwice starts a program on an empty data folder and again on the same one.
func startTwice(ctx context.Context, program string) (took [2]time.Duration, err error) {
	parent, err := os.MkdirTemp("", "daawo-start-")
	if err != nil {
		return took, err
	}
	defer os.RemoveAll(parent)
	if err := os.Chmod(parent, 0o755); err != nil { // Postgres runs as another user
		return took, err
	}
	for i := range took {
		if took[i], err = start(ctx, program, filepath.Join(parent, "data")); err != nil {
			return took, err
		}
	}
	return took, nil
}

// start runs a program until it has answered with its home page.
func start(ctx context.Context, program, data string) (took time.Duration, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	address := listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	_ = listener.Close() // the program listens there
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "start", "--port", port, "--data", data)
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for !answers(ctx, "http://"+address) && ctx.Err() == nil {
		time.Sleep(2 * time.Millisecond)
	}
	took = time.Since(begun)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	return took, cmd.Wait()
}

func answers(ctx context.Context, address string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}
