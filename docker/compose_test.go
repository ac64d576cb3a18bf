// Package docker_test reads compose.yaml with Compose's own loader and checks what a person would check by eye: pinned
// images, health checks, order of start, what is published, and that every variable has a source and a description.
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

// oneShot are the services that do a task at every start and end.
var oneShot = []string{"migrate", "roles"}

// writable are the services whose images write outside their volumes: Postgres and Node servers keep caches there.
var writable = []string{"db", "roles", "storage", "meta", "studio", "realtime"}

// published says which service may be reached from outside, on which container ports.
var published = map[string][]uint32{"gateway": {54321, 54323}, "mailpit": {8025}}

var variable = regexp.MustCompile(`\$\{([A-Z0-9_]+)(:[?-][^}]*)?\}`)

// load reads the root compose.yaml with every required variable set to its own name.
func load(t *testing.T) *types.Project {
	t.Helper()
	env := []string{}
	for _, match := range variable.FindAllStringSubmatch(readFile(t, "compose.yaml"), -1) {
		if strings.HasPrefix(match[2], ":?") {
			env = append(env, match[1]+"=value-of-"+match[1])
		}
	}
	options, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithName("daawo"), cli.WithEnv(env), cli.WithProfiles([]string{"*"}))
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
	}
	for name, service := range load(t).Services {
		if service.Build != nil {
			if !strings.HasPrefix(service.Image, "daawo:") {
				t.Errorf("%s is built here but called %s", name, service.Image)
			}
			continue
		}
		if service.Image != want[name] {
			t.Errorf("%s runs %s, pinned is %q", name, service.Image, want[name])
		}
	}
}

func TestEveryServiceIsWatchedAndBounded(t *testing.T) {
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
			t.Errorf("%s could run on a read-only root", name)
		}
	}
}

func TestServicesWaitForWhatTheyNeed(t *testing.T) {
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
	for _, name := range []string{"auth", "rest", "storage", "meta"} {
		if _, ok := project.Services[name].DependsOn["roles"]; !ok {
			t.Errorf("%s may start before its role has its password", name)
		}
	}
}

func TestOnlyTheGatewayIsPublished(t *testing.T) {
	for name, service := range load(t).Services {
		for _, port := range service.Ports {
			if !slices.Contains(published[name], port.Target) {
				t.Errorf("%s publishes %d", name, port.Target)
			}
			if port.Target != 54321 && port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %d on %q by default, not on loopback", name, port.Target, port.HostIP)
			}
		}
		if service.Privileged || slices.Contains(service.CapAdd, "ALL") {
			t.Errorf("%s is privileged", name)
		}
	}
}

// TestVariablesAreDescribed: each variable that a service gets, and each that .env may hold, has a line in docs/docker.md.
func TestVariablesAreDescribed(t *testing.T) {
	described := readFile(t, "../docs/docker.md")
	has := func(name string) bool { return strings.Contains(described, "`"+name+"`") }
	for name, service := range load(t).Services {
		for key := range service.Environment {
			if !has(key) {
				t.Errorf("docs/docker.md does not describe %s of %s", key, name)
			}
		}
	}
	for _, match := range variable.FindAllStringSubmatch(readFile(t, "compose.yaml"), -1) {
		if !has(match[1]) {
			t.Errorf("docs/docker.md does not describe %s", match[1])
		}
	}
}

func TestNoSecretIsWrittenDown(t *testing.T) {
	secret := regexp.MustCompile(`(?i)(password|secret|_key|crypto)`)
	for name, service := range load(t).Services {
		for key, value := range service.Environment {
			if !secret.MatchString(key) || value == nil {
				continue
			}
			if !strings.Contains(*value, "value-of-") && *value != "" && !strings.HasPrefix(*value, "http") {
				t.Errorf("%s of %s is %q in the file", key, name, *value)
			}
		}
	}
}

func TestRootFileIncludesThisOne(t *testing.T) {
	root := readFile(t, "../compose.yaml")
	if !strings.Contains(root, "path: docker/compose.yaml") {
		t.Error("the root compose.yaml does not include docker/compose.yaml")
	}
}
