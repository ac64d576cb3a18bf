package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
)

// account is a user of one auth server.
type account struct {
	client                   *http.Client
	url, apikey              string // of the server, without a trailing slash
	email, password          string
	accessToken, nextRefresh string
}

// call sends a request and reads the tokens in the reply.
func (a *account) call(ctx context.Context, method, path, bearer string, body any) error {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.url+path, in)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if a.apikey != "" {
		r.Header.Set("apikey", a.apikey)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	res, err := a.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	if err != nil || method == http.MethodGet {
		return err
	}
	var tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	err = json.Unmarshal(text, &tokens)
	a.accessToken, a.nextRefresh = tokens.Access, tokens.Refresh
	return err
}

func (a *account) login(ctx context.Context) error {
	return a.call(ctx, http.MethodPost, "/token?grant_type=password", "",
		map[string]string{"email": a.email, "password": a.password})
}

func (a *account) refresh(ctx context.Context) error {
	return a.call(ctx, http.MethodPost, "/token?grant_type=refresh_token", "",
		map[string]string{"refresh_token": a.nextRefresh})
}

func (a *account) user(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/user", a.accessToken, nil)
}

// middle returns the median time of sequential calls.
func middle(ctx context.Context, length time.Duration, do func(context.Context) error) (time.Duration, error) {
	var took []time.Duration
	for end := time.Now().Add(length); len(took) < 10 || time.Now().Before(end); {
		begun := time.Now()
		if err := do(ctx); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// auth compares auth with the SQL that it must run, in the same run. If GOTRUE_URL is set, it also
// measures that GoTrue, which must not require confirmation of sign-ups. Then it measures reads
// during many logins.
func (m *model) auth(ctx context.Context, length time.Duration) error {
	conn, err := pgx.Connect(ctx, m.st.Get("DB_URL"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	sql, err := middle(ctx, length, func(ctx context.Context) error {
		var row string
		return conn.QueryRow(ctx, `select to_json(u)::text from auth.users u where email = $1`, m.email).Scan(&row)
	})
	if err != nil {
		return err
	}
	commit, err := middle(ctx, length, func(ctx context.Context) error {
		_, err := conn.Exec(ctx, `update auth.users set updated_at = now() where email = $1`, m.email)
		return err
	})
	if err != nil {
		return err
	}
	ours := &account{client: m.client, url: m.st.Get("API_URL") + "/auth/v1", apikey: m.st.Get("ANON_KEY"),
		email: m.email, password: m.password}
	servers := []struct {
		name string
		*account
	}{{"auth", ours}}
	if url := os.Getenv("GOTRUE_URL"); url != "" {
		theirs := &account{client: m.client, url: url,
			email: fmt.Sprintf("bench-%d@example.org", time.Now().UnixNano()), password: m.password}
		if err := theirs.call(ctx, http.MethodPost, "/signup", "",
			map[string]string{"email": theirs.email, "password": theirs.password}); err != nil {
			return fmt.Errorf("GOTRUE_URL: %w", err)
		}
		servers = append(servers, struct {
			name string
			*account
		}{"GoTrue", theirs})
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "one client\tmedian\tto SQL alone\t\nSQL alone: one row read\t%s\t1\t\nSQL alone: one row written\t%s\t1\t\n", round(sql), round(commit))
	for _, s := range servers {
		if err := s.login(ctx); err != nil {
			return err
		}
		for _, c := range []struct {
			name string
			do   func(context.Context) error
			sql  time.Duration // the time of its SQL alone
		}{{"GET /user", s.user, sql}, {"refresh grant", s.refresh, commit}, {"password login", s.login, commit}} {
			took, err := middle(ctx, length, c.do)
			if err != nil {
				return err
			}
			fmt.Fprintf(table, "%s: %s\t%s\t%.1f\t\n", s.name, c.name, round(took), float64(took)/float64(c.sql))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	m.storm(ctx, ours, 3*length)
	return nil
}

// storm measures reads of the list at a fixed rate, first alone and then during more concurrent
// logins than processors.
func (m *model) storm(ctx context.Context, who *account, length time.Duration) {
	const rate, people = 40, 24
	read := []kind{{name: "list", share: 1, do: m.list}}
	calm := m.measure(ctx, "list", read, rate, length, nil)
	storm, end := context.WithCancel(ctx)
	defer end()
	var all sync.WaitGroup
	var mu sync.Mutex
	logins := 0
	for range people {
		all.Go(func() {
			for one := *who; storm.Err() == nil; {
				if one.login(storm) == nil {
					mu.Lock()
					logins++
					mu.Unlock()
				}
			}
		})
	}
	time.Sleep(time.Second) // until all logins are queued
	rough := m.measure(ctx, "list", read, rate, length, nil)
	end()
	all.Wait()
	fmt.Printf("\nreads at %d/s, alone: p50 %s, p99 %s; while %d people sign in (%d logins): p50 %s, p99 %s, %.1f times\n",
		rate, round(calm.p50), round(calm.p99), people, logins, round(rough.p50), round(rough.p99),
		float64(rough.p99)/float64(calm.p99))
}
