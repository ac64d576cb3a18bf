// Package docker_test loads compose.yaml with Compose's own loader and checks it: pinned images,
// health checks, start order, published ports, and that every variable has a source and a
// description.
package docker_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// oneShot lists the services that run a task at every start and then end.
var oneShot = []string{"migrate", "roles", "transfer"}

// writable lists the services whose images write outside of their volumes, such as caches of
// Postgres and Node servers.
var writable = []string{"db", "roles", "storage", "meta", "studio", "realtime", "pooler"}

// ourImage is the image of our own services: the one that the release workflow publishes for the
// module path of go.mod, or one that is built here while the path names no repository of GitHub.
var ourImage = imageOf("../go.mod")

func imageOf(file string) string {
	text, _ := os.ReadFile(file) // without it the tests fail
	module := regexp.MustCompile(`(?m)^module github\.com/(\S+)$`).FindSubmatch(text)
	if module == nil {
		return "localhost/daawo:latest"
	}
	return "ghcr.io/" + strings.ToLower(string(module[1])) + ":latest"
}

// published maps the services with published ports to the container ports.
var published = map[string][]uint32{"gateway": {54321, 54323, 54325}, "mailpit": {8025}, "pooler": {5432, 6543}}

var variable = regexp.MustCompile(`\$\{([A-Z0-9_]+)(:[?-][^}]*)?\}`)

// load loads compose.yaml and the given override files. Every required variable is set to its own
// name.
func load(t *testing.T, over ...string) *types.Project {
	t.Helper()
	files := append([]string{"compose.yaml"}, over...)
	env := []string{}
	for _, name := range files {
		for _, match := range variable.FindAllStringSubmatch(readFile(t, name), -1) {
			if strings.HasPrefix(match[2], ":?") {
				env = append(env, match[1]+"=value-of-"+match[1])
			}
		}
	}
	options, err := cli.NewProjectOptions(files, cli.WithName("daawo"), cli.WithEnv(env),
		cli.WithProfiles([]string{"*"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestImagesArePinned(t *testing.T) {
	want := map[string]string{
		"db": "supabase/postgres:17.6.1.136", "roles": "supabase/postgres:17.6.1.136",
		"auth": "supabase/gotrue:v2.196.0", "rest": "postgrest/postgrest:v16.2",
		"storage": "supabase/storage-api:v1.74.0", "imgproxy": "darthsim/imgproxy:v3.31.4",
		"meta": "supabase/postgres-meta:v0.99.0", "studio": "supabase/studio:2026.09.07-sha-7996410",
		"realtime": "supabase/realtime:v2.134.10", "mailpit": "axllent/mailpit:v1.31.3",
		"pooler": "supabase/supavisor:2.9.12",
	}
	for name, service := range load(t).Services {
		if service.Build != nil {
			if service.Image != ourImage {
				t.Errorf("%s runs %s, want %s", name, service.Image, ourImage)
			}
			continue
		}
		if service.Image != want[name] {
			t.Errorf("%s runs %s, want %q", name, service.Image, want[name])
		}
	}
}

func TestServiceLimits(t *testing.T) {
	for name, service := range load(t).Services {
		once := slices.Contains(oneShot, name)
		if !once && (service.HealthCheck == nil || len(service.HealthCheck.Test) == 0) {
			t.Errorf("%s has no health check", name)
		}
		if once != (service.Restart == "no") {
			t.Errorf("%s: restart is %q", name, service.Restart)
		}
		if service.MemLimit == 0 {
			t.Errorf("%s has no memory limit", name)
		}
		if service.Init == nil || !*service.Init {
			t.Errorf("%s has no init", name)
		}
		if service.ContainerName != "" {
			t.Errorf("%s has a container name: two projects could not run side by side", name)
		}
		if !service.ReadOnly && !slices.Contains(writable, name) {
			t.Errorf("%s has a writable root without need", name)
		}
	}
}

func TestStartOrder(t *testing.T) {
	project := load(t)
	for name, service := range project.Services {
		for needed, dependency := range service.DependsOn {
			want := types.ServiceConditionHealthy
			if slices.Contains(oneShot, needed) {
				want = types.ServiceConditionCompletedSuccessfully
			}
			if dependency.Condition != want {
				t.Errorf("%s waits for %s to be %s, want %s", name, needed, dependency.Condition, want)
			}
		}
	}
	for _, name := range []string{"auth", "rest", "storage", "meta", "realtime", "pooler"} {
		if _, ok := project.Services[name].DependsOn["roles"]; !ok {
			t.Errorf("%s may start before its role has its password", name)
		}
	}
}

func TestPublishedPorts(t *testing.T) {
	for name, service := range load(t).Services {
		for _, port := range service.Ports {
			if !slices.Contains(published[name], port.Target) {
				t.Errorf("%s publishes %d", name, port.Target)
			}
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %d on %q by default, not on loopback", name, port.Target, port.HostIP)
			}
		}
		if service.Privileged || slices.Contains(service.CapAdd, "ALL") {
			t.Errorf("%s is privileged", name)
		}
	}
}

// TestVariablesAreDocumented compares each service's variables with its table in docs/docker.md in
// both directions, and the variables of .env with theirs.
func TestVariablesAreDocumented(t *testing.T) {
	page := readFile(t, "../docs/docker.md")
	services := load(t).Services
	seen := map[string]bool{}
	for section := range strings.SplitSeq(page, "\n#### ") {
		heading, text, _ := strings.Cut(section, "\n")
		names := strings.Split(heading, ", ")
		if _, ok := services[names[0]]; !ok {
			continue
		}
		described := map[string]bool{}
		for _, row := range regexp.MustCompile(`(?m)^\| (`+"`.*`"+`) \| (.+) \|$`).FindAllStringSubmatch(text, -1) {
			for name := range strings.SplitSeq(row[1], ", ") {
				described[strings.Trim(name, "`")] = true
			}
		}
		given := map[string]bool{}
		for _, name := range names {
			seen[name] = true
			for key := range services[name].Environment {
				given[key] = true
				if !described[key] {
					t.Errorf("docs/docker.md does not describe %s of %s", key, name)
				}
			}
		}
		for key := range described {
			if !given[key] {
				t.Errorf("docs/docker.md describes %s, which %s does not get", key, heading)
			}
		}
	}
	for name := range services {
		if !seen[name] {
			t.Errorf("docs/docker.md has no table of %s", name)
		}
	}
	file, _, _ := strings.Cut(page, "### What each service gets")
	for _, name := range []string{"compose.yaml", "tls.yaml", "local.env"} {
		for _, match := range variable.FindAllStringSubmatch(readFile(t, name), -1) {
			if !strings.Contains(file, "`"+match[1]+"`") {
				t.Errorf("docs/docker.md does not describe %s of .env", match[1])
			}
		}
	}
}

// TestOurVariablesAreRead checks that the program knows every variable that our own services get.
func TestOurVariablesAreRead(t *testing.T) {
	page := readFile(t, "../docs/configuration.md") // generated from the code
	for name, service := range load(t).Services {
		if service.Build == nil {
			continue
		}
		for key := range service.Environment {
			if !strings.Contains(page, "\n| `"+key+"` |") {
				t.Errorf("unknown variable %s of %s", key, name)
			}
		}
	}
}

// TestServerPrivileges checks that services without need for capabilities have none and cannot gain
// any.
func TestServerPrivileges(t *testing.T) {
	for name, service := range load(t).Services {
		if slices.Contains([]string{"db", "roles", "realtime", "pooler"}, name) {
			continue // they start as root and switch to another user
		}
		if !slices.Contains(service.CapDrop, "ALL") || !slices.Contains(service.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s may gain privileges", name)
		}
		if service.Build != nil && service.User != "65532:65532" && name != "transfer" {
			t.Errorf("%s runs as %q", name, service.User)
		}
	}
}

func TestNoSecretsInCompose(t *testing.T) {
	secret := regexp.MustCompile(`(?i)(password|secret|_key|crypto)`)
	for name, service := range load(t).Services {
		for key, value := range service.Environment {
			if !secret.MatchString(key) || value == nil || key == "GOTRUE_PASSWORD_MIN_LENGTH" {
				continue
			}
			if !strings.Contains(*value, "value-of-") && *value != "" && !strings.HasPrefix(*value, "http") {
				t.Errorf("%s of %s is %q in the file", key, name, *value)
			}
		}
	}
}
