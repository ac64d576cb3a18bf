package pgrst

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// CheckReady asks the admin server of a running server whether it is ready. It writes the answer to
// out, or returns an error with PostgREST's text.
func CheckReady(ctx context.Context, o Options, out io.Writer) error {
	s, err := loadSettings(sources{File: o.File, Environ: o.Environ})
	if err != nil {
		return err
	}
	if s.AdminPort == 0 {
		return configError("ERROR: Admin server is not running. Please check admin-server-port config.")
	}
	if strings.HasPrefix(s.AdminHost, "*") || strings.HasPrefix(s.AdminHost, "!") {
		return configError(fmt.Sprintf("ERROR: The `--ready` flag cannot be used "+
			"when server-host is configured as \"%s\". "+
			"Please update your server-host config to \"localhost\".", s.AdminHost))
	}
	address := "http://" + net.JoinHostPort(s.AdminHost, strconv.Itoa(s.AdminPort)) + "/ready"
	if _, err := url.Parse(address); err != nil || s.AdminPort < 0 || s.AdminPort > 65535 {
		return configError("ERROR: invalid url - " + address)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return configError("ERROR: invalid url - " + address)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return configError("ERROR: connection refused to " + address)
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return configError("ERROR: " + address)
	}
	_, err = fmt.Fprintln(out, "OK: "+address)
	return err
}

// VersionText is the output of --version.
func VersionText() string { return product + "\n" }

// Example returns a configuration file with every setting and its default, for --example.
func Example() string {
	s, err := loadSettings(sources{})
	if err != nil { // the defaults are valid
		panic(err)
	}
	var b strings.Builder
	b.WriteString("# Settings of the REST server with their defaults. Remove the # before a setting to change it.\n" +
		"# An environment variable such as PGRST_DB_URI has precedence over this file.\n\n")
	for line := range strings.Lines(s.dump()) {
		b.WriteString("# " + line)
	}
	return b.String()
}
