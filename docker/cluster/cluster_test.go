// Package cluster_test checks the example of docker/cluster: the files must be valid for their
// programs, and the README must list them. The configuration's tests check daawo.env.
package cluster_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.yaml.in/yaml/v3"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// variables reads NAME=value lines.
func variables(t *testing.T, name string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for line := range strings.Lines(read(t, name)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			t.Errorf("%s: %q is not a variable", name, line)
		}
		m[key] = value
	}
	return m
}

// TestPatroni checks the settings that protect acknowledged commits, and a node's variables.
func TestPatroni(t *testing.T) {
	var c map[string]any
	if err := yaml.Unmarshal([]byte(read(t, "patroni.yml")), &c); err != nil {
		t.Fatal(err)
	}
	bootstrap := c["bootstrap"].(map[string]any)
	dcs := bootstrap["dcs"].(map[string]any)
	parameters := dcs["postgresql"].(map[string]any)["parameters"].(map[string]any)
	if dcs["synchronous_mode"] != true || dcs["synchronous_mode_strict"] != true ||
		parameters["synchronous_commit"] != "on" {
		t.Error("commits may not wait for a standby")
	}
	// Patroni's rule: a primary that cannot renew its lease must step down before the lease ends.
	ttl, loop, retry := dcs["ttl"].(int), dcs["loop_wait"].(int), dcs["retry_timeout"].(int)
	if ttl > 20 || loop+2*retry > ttl {
		t.Errorf("times: ttl %d, loop_wait %d, retry_timeout %d", ttl, loop, retry)
	}
	if !slices.Contains(bootstrap["initdb"].([]any), any("data-checksums")) {
		t.Error("no page checksums")
	}
	for _, line := range c["postgresql"].(map[string]any)["pg_hba"].([]any) {
		if !strings.HasSuffix(line.(string), "scram-sha-256") {
			t.Errorf("pg_hba line without a password: %s", line)
		}
	}
	node := variables(t, "node.env")
	for _, name := range []string{"PATRONI_NAME", "PATRONI_ETCD_HOSTS", "PATRONI_POSTGRESQL_CONNECT_ADDRESS",
		"PATRONI_RESTAPI_CONNECT_ADDRESS"} {
		if node[name] == "" {
			t.Errorf("node.env has no %s", name)
		}
	}
	for name, value := range node {
		if strings.HasSuffix(name, "_PASSWORD") && value != "" {
			t.Errorf("%s has a value", name)
		}
	}
}

// TestHAProxy checks the configuration with HAProxy, if installed, and that the example sets each
// variable.
func TestHAProxy(t *testing.T) {
	env := variables(t, "haproxy.env")
	for _, used := range regexp.MustCompile(`\$\{([A-Z0-9_]+)\}`).FindAllStringSubmatch(read(t, "haproxy.cfg"), -1) {
		if env[used[1]] == "" {
			t.Errorf("haproxy.env has no %s", used[1])
		}
	}
	program, err := exec.LookPath("haproxy")
	if err != nil {
		t.Skip("haproxy is not installed")
	}
	cmd := exec.Command(program, "-c", "-f", "haproxy.cfg")
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "WARNING") {
		t.Errorf("%v\n%s", err, out)
	}
}

// freeAddress returns an address on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// natsHosts starts the three NATS servers with nats.conf and nats.env, but addresses of this
// machine. It returns the servers and the addresses for clients and for health checks.
func natsHosts(t *testing.T) (servers []*server.Server, clients, monitors []string) {
	t.Helper()
	env := variables(t, "nats.env")
	var routes []string
	for range 3 {
		routes = append(routes, freeAddress(t))
	}
	all := strings.Trim(env["NATS_ROUTES"], "'")
	for i, route := range routes {
		all = strings.ReplaceAll(all, fmt.Sprintf("10.0.0.1%d:6222", i+1), route)
	}
	for i, route := range routes {
		clients, monitors = append(clients, freeAddress(t)), append(monitors, freeAddress(t))
		for name, value := range map[string]string{
			"NATS_NAME": fmt.Sprintf("db%d", i+1), "NATS_LISTEN": clients[i], "NATS_CLUSTER_LISTEN": route,
			"NATS_MONITOR":  monitors[i],
			"NATS_PASSWORD": `"0815"`, "NATS_CLUSTER_PASSWORD": `"4711"`,
			"NATS_ROUTES": strings.ReplaceAll(all, "PASSWORD", "4711"),
		} {
			if env[name] == "" {
				t.Errorf("nats.env has no %s", name)
			}
			t.Setenv(name, value)
		}
		options, err := server.ProcessConfigFile("nats.conf")
		if err != nil {
			t.Fatal(err)
		}
		options.NoLog, options.NoSigs = true, true
		s, err := server.NewServer(options)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(s.Shutdown)
		if !s.ReadyForConnections(time.Minute) {
			t.Fatal("NATS does not start")
		}
		servers = append(servers, s)
	}
	return servers, clients, monitors
}

// TestNATS checks that the servers forward to one another, ask for the password, and that a client
// goes to another server.
func TestNATS(t *testing.T) {
	servers, clients, monitors := natsHosts(t)
	url := variables(t, "daawo.env")["NATS_URL"]
	for i, at := range clients {
		url = strings.Replace(url, fmt.Sprintf("10.0.0.1%d:4222", i+1), at, 1)
	}
	url = strings.ReplaceAll(url, "PASSWORD", "0815")
	if strings.Contains(url, "10.0.0.") || strings.Count(url, ",") != 2 {
		t.Fatalf("NATS_URL does not name the three servers of nats.env: %s", url)
	}
	if _, err := nats.Connect(strings.ReplaceAll(url, "0815", "wrong")); err == nil {
		t.Error("a client with a wrong password connects")
	}
	connect := func(only string) (conn *nats.Conn) {
		conn, err := nats.Connect(only, nats.DontRandomize(), nats.ReconnectWait(10*time.Millisecond),
			nats.MaxReconnects(-1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		return conn
	}
	first, last := connect(url), connect("nats://daawo:0815@"+clients[2])
	got := make(chan *nats.Msg, 1000)
	if _, err := last.ChanSubscribe("subject", got); err != nil {
		t.Fatal(err)
	}
	reaches := func(when string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; {
			_ = first.Publish("subject", []byte(when)) // fails until it is connected again
			select {
			case m := <-got:
				if string(m.Data) == when {
					return
				}
			case <-time.After(20 * time.Millisecond):
			}
			if time.Now().After(end) {
				t.Fatalf("no message arrives %s", when)
			}
		}
	}
	reaches("from the first server to the last")
	servers[0].Shutdown()
	reaches("after the first server ended")
	reply, err := http.Get("http://" + monitors[1] + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		t.Errorf("healthz replies %d", reply.StatusCode)
	}
	// Debian's release of NATS is older than the one above.
	if program, err := exec.LookPath("nats-server"); err == nil {
		if out, err := exec.Command(program, "-t", "-c", "nats.conf").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestReadmeListsFiles(t *testing.T) {
	readme := read(t, "README.md")
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != "README.md" && !strings.HasSuffix(name, ".go") &&
			!strings.Contains(readme, "`"+name+"`") {
			t.Errorf("README.md does not list %s", name)
		}
	}
}
