// Package cluster_test checks the example of docker/cluster: the files must be valid for their programs, and the README must list
// them. The configuration's tests check daawo.env.
package cluster_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

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
	if dcs["synchronous_mode"] != true || dcs["synchronous_mode_strict"] != true || parameters["synchronous_commit"] != "on" {
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
	for _, name := range []string{"PATRONI_NAME", "PATRONI_ETCD_HOSTS", "PATRONI_POSTGRESQL_CONNECT_ADDRESS", "PATRONI_RESTAPI_CONNECT_ADDRESS"} {
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

// TestHAProxy checks the configuration with HAProxy, if installed, and that the example sets each variable.
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

func TestReadmeListsFiles(t *testing.T) {
	readme := read(t, "README.md")
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != "README.md" && !strings.HasSuffix(name, ".go") && !strings.Contains(readme, "`"+name+"`") {
			t.Errorf("README.md does not list %s", name)
		}
	}
}
