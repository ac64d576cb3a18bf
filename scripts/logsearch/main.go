// Command logsearch searches the logs of a tested stack for confidential data: every report,
// account, session and key in its database, the passwords of the tests, and anything that looks
// like a token or a phone number. It prints each hit with its place and exits with 1 if there is
// one.
//
//	eval "$(bin/daawo status -o env)"; go run ./scripts/logsearch server.log …
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

func main() {
	tests := flag.String("tests", "web/tests", "`FOLDER` of the tests, whose sources contain passwords")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, *tests, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "logsearch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tests string, logs []string) error {
	secrets, err := stored(ctx, os.Getenv("DB_URL"))
	if err != nil {
		return err
	}
	passwords, err := passwordsIn(tests)
	if err != nil {
		return err
	}
	for value := range passwords {
		secrets[value] = "a password of the tests"
	}
	for _, name := range []string{"SERVICE_ROLE_KEY", "SECRET_KEY", "JWT_SECRET", "ANON_KEY",
		"S3_PROTOCOL_ACCESS_KEY_SECRET"} {
		if value := os.Getenv(name); value != "" {
			secrets[value] = name
		}
	}
	lines, hits := 0, 0
	relevant := false // the log mentions the function that accepts reports
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			lines++
			relevant = relevant || strings.Contains(line, "submit-report")
			for _, what := range found(line, secrets) {
				hits++
				fmt.Fprintf(os.Stderr, "%s contains %s: %s", filepath.Base(name), what, line)
			}
		}
	}
	fmt.Printf("%d lines of %d logs searched for %d values: %d hits\n", lines, len(logs), len(secrets), hits)
	switch {
	case hits > 0:
		return errors.New("the logs contain confidential data")
	case len(secrets) < 50 || len(passwords) == 0 || !relevant:
		return errors.New("too few log lines or values: the search is inconclusive")
	}
	return nil
}

// found returns what kinds of confidential data a line contains.
func found(line string, secrets map[string]string) []string {
	var all []string
	for value, what := range secrets {
		if strings.Contains(line, value) {
			all = append(all, what)
		}
	}
	line = uuids.ReplaceAllString(line, "")
	for what, pattern := range patterns {
		if pattern.MatchString(line) {
			all = append(all, what)
		}
	}
	return all
}

var patterns = map[string]*regexp.Regexp{
	"a signed token": regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}`),
	"a secret key":   regexp.MustCompile(`sb_secret_[A-Za-z0-9_-]{8,}`),
	"a phone number": regexp.MustCompile(`\+[1-9][0-9]{0,2}[ -]?[0-9]{2,3}[ -]?[0-9]{3}[ -]?[0-9]{2,}`),
}

// uuids matches UUIDs. The digits of one after a plus sign, which encodes a space in an address,
// look like a phone number.
var uuids = regexp.MustCompile(`[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`)

// confidential holds queries for data that no log may contain. Each column of a row is one value.
var confidential = map[string]string{
	"a report":   `select unnest(array[name, phone, product_name, issue_description, where_bought, batch_number, photo_url, reviewer_notes]) from public.reports`,
	"a phone":    `select regexp_replace(phone, '[^0-9]', '', 'g') from public.reports where phone is not null`,
	"a photo":    `select name from storage.objects where bucket_id = 'report-photos'`,
	"an account": `select unnest(array[email, phone, encrypted_password, confirmation_token, recovery_token, email_change_token_new]) from auth.users`,
	"a session":  `select token from auth.refresh_tokens`,
	"a link":     `select token_hash from auth.one_time_tokens`,
	"a factor":   `select secret from auth.mfa_factors`,
}

// shortest is the minimum length of a value. Shorter values could match ordinary words and numbers.
const shortest = 6

// stored returns the confidential values in the database, with their kind.
func stored(ctx context.Context, url string) (map[string]string, error) {
	if url == "" {
		return nil, errors.New("DB_URL is not set: run eval \"$(bin/daawo status -o env)\" first")
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	secrets := map[string]string{}
	for what, query := range confidential {
		rows, err := conn.Query(ctx, query)
		if err != nil {
			return nil, err
		}
		values, err := pgx.CollectRows(rows, pgx.RowTo[*string])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		for _, value := range values {
			if value != nil && len(*value) >= shortest {
				secrets[*value] = what
			}
		}
	}
	return secrets, nil
}

var password = regexp.MustCompile(`password(?: =|:) '([^'\n]{6,})'`)

// passwordsIn returns the passwords in the sources of tests. The database has only their hashes.
func passwordsIn(folder string) (map[string]bool, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".ts") || strings.Contains(name, "node_modules") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, m := range password.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		return err
	})
	return found, err
}
