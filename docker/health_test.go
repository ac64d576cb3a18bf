package docker_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
)

// client is how a program of an image resolves localhost, for which Docker's hosts file has ::1
// before 127.0.0.1.
type client string

const (
	firstAddress client = "asks the first address only"   // BusyBox wget
	allAddresses client = "tries every address in turn"   // curl, Node, Go
	ownAddress   client = "asks its own server by itself" // a subcommand of the server
)

// image is what is known of a pinned image: from its Dockerfile, or from running its programs.
type image struct {
	user    string            // of the server
	changes bool              // it begins as root and changes to that user
	shell   bool              // has /bin/sh
	tools   map[string]client // programs that a health check may run
	listens map[string]string // families by port: "4", or "46" for a socket on [::] that takes IPv4, too
}

// images is the table of the pinned images. A new tag needs a new look at the image.
var images = map[string]image{
	"supabase/postgres:17.6.1.136": {"postgres", true, true, map[string]client{"pg_isready": allAddresses},
		map[string]string{"5432": "46"}},
	// Alpine. GOTRUE_API_HOST is 0.0.0.0.
	"supabase/gotrue:v2.196.0": {"supabase", false, true, map[string]client{"wget": firstAddress},
		map[string]string{"9999": "4"}},
	// One static binary, no shell.
	"postgrest/postgrest:v16.2": {"1000", false, false, map[string]client{"postgrest": ownAddress},
		map[string]string{"3000": "4", "3001": "4"}},
	"darthsim/imgproxy:v3.31.4": {"imgproxy", false, true, map[string]client{"imgproxy": ownAddress},
		map[string]string{"5001": "46"}},
	// Alpine with Node. SERVER_HOST is 0.0.0.0.
	"supabase/storage-api:v1.74.0": {"root", false, true, map[string]client{"wget": firstAddress, "node": allAddresses},
		map[string]string{"5000": "4"}},
	// Debian with Node, neither curl nor wget. PG_META_HOST is 0.0.0.0.
	"supabase/postgres-meta:v0.99.0": {"root", false, true, map[string]client{"node": allAddresses},
		map[string]string{"8080": "4"}},
	// HOSTNAME is 0.0.0.0.
	"supabase/studio:2026.09.07-sha-7996410": {"root", false, true, map[string]client{"node": allAddresses},
		map[string]string{"3000": "4"}},
	// Debian with curl. Phoenix listens on [::].
	"supabase/realtime:v2.134.10": {"65534", true, true, map[string]client{"curl": allAddresses},
		map[string]string{"4000": "46"}},
	"supabase/supavisor:2.9.12": {"65534", true, true, map[string]client{"curl": allAddresses},
		map[string]string{"4000": "46", "5432": "46", "6543": "46"}},
	"axllent/mailpit:v1.31.3": {"root", false, true,
		map[string]client{"/mailpit": ownAddress, "wget": firstAddress}, map[string]string{"8025": "46", "1025": "46"}},
	// Ours, on distroless static. DAAWO_HOST is 0.0.0.0, which Go opens for IPv4 only.
	ourImage: {"65532", false, false, map[string]client{"/daawo": allAddresses},
		map[string]string{"54321": "4", "54323": "4", "9000": "4"}},
}

var address = regexp.MustCompile(`https?://[^\s'"]+`)

// check runs a health check against the table. It returns an error if the check would fail on a
// healthy service.
func (i image) check(test []string) error {
	kind, words := test[0], test[1:]
	if kind == "CMD-SHELL" {
		if !i.shell {
			return fmt.Errorf("the image has no shell")
		}
		words = strings.Fields(words[0])
	} else if kind != "CMD" {
		return fmt.Errorf("%s is not supported", kind)
	}
	how, ok := i.tools[words[0]]
	if !ok {
		return fmt.Errorf("the image has no %s", words[0])
	}
	if how == ownAddress {
		return nil
	}
	host, port := hostAndPort(words)
	families, ok := i.listens[port]
	if !ok {
		return fmt.Errorf("port %s is not open", port)
	}
	tried := map[string]string{"127.0.0.1": "4", "::1": "6", "localhost": "64"}[host]
	if how == firstAddress && tried != "" {
		tried = tried[:1]
	}
	if !strings.ContainsAny(families, tried) || tried == "" {
		return fmt.Errorf("%s %s: connection refused at %s:%s", words[0], how, host, port)
	}
	return nil
}

func hostAndPort(words []string) (host, port string) {
	if found := address.FindString(strings.Join(words, " ")); found != "" {
		u, err := url.Parse(found)
		if err != nil {
			return "", ""
		}
		return u.Hostname(), u.Port()
	}
	if at := slices.Index(words, "-h"); at >= 0 && at+1 < len(words) { // of pg_isready
		return words[at+1], "5432"
	}
	return "", ""
}

// TestHealthCheckModel checks the model with checks that failed in containers: BusyBox and
// localhost, a missing program, a missing shell.
func TestHealthCheckModel(t *testing.T) {
	for _, tt := range []struct {
		image, refused string
		test           []string
	}{
		{"supabase/storage-api:v1.74.0", "connection refused",
			[]string{"CMD", "wget", "--spider", "http://localhost:5000/status"}},
		{"supabase/storage-api:v1.74.0", "", []string{"CMD", "wget", "--spider", "http://127.0.0.1:5000/status"}},
		{"supabase/storage-api:v1.74.0", "no curl", []string{"CMD", "curl", "http://127.0.0.1:5000/status"}},
		{"supabase/postgres-meta:v0.99.0", "", []string{"CMD", "node", "-e", "fetch('http://localhost:8080/health')"}},
		{"supabase/postgres-meta:v0.99.0", "not open",
			[]string{"CMD", "node", "-e", "fetch('http://localhost:80/health')"}},
		{ourImage, "no shell", []string{"CMD-SHELL", "/daawo healthcheck http://127.0.0.1:9000/"}},
	} {
		err := images[tt.image].check(tt.test)
		if (err != nil) != (tt.refused != "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%v in %s: %v", tt.test, tt.image, err)
		}
	}
}

// TestHealthChecksSucceed checks every health check against the table of images: its program exists
// in the image, and it asks an address on which the server listens.
func TestHealthChecksSucceed(t *testing.T) {
	used := map[string]bool{}
	for name, service := range local(t, "*").Services {
		used[service.Image] = true
		if slices.Contains(oneShot, name) {
			continue
		}
		if err := images[service.Image].check(service.HealthCheck.Test); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range images {
		if !used[name] {
			t.Errorf("no service runs %s", name)
		}
	}
}

// TestUsersOfImages checks that the services without capabilities run in images that permit it:
// none of them changes its user at the start, unless the project names the user.
func TestUsersOfImages(t *testing.T) {
	for name, service := range local(t, "*").Services {
		image := images[service.Image]
		changes := image.changes && service.User == ""
		if drops := slices.Contains(service.CapDrop, "ALL"); changes == drops {
			t.Errorf("%s becomes user %s at its start: %v; without capabilities: %v", name, image.user, changes, drops)
		}
	}
}

// TestEveryServiceBecomesHealthy simulates docker compose up: a service starts when the services it
// depends on are healthy or have ended, and becomes healthy if its check succeeds in its image.
func TestEveryServiceBecomesHealthy(t *testing.T) {
	for _, profiles := range [][]string{nil, {"*"}} {
		project := local(t, profiles...)
		order, stuck := simulate(project)
		for name, why := range stuck {
			t.Errorf("%s never becomes healthy: %s", name, why)
		}
		t.Log(strings.Join(order, " → "))
		if first := order[:2]; !slices.Contains(first, "db") && profiles == nil {
			t.Errorf("the database is not among the first: %v", order)
		}
	}
	// A failing check must be found.
	project := local(t)
	storage := project.Services["storage"]
	storage.HealthCheck.Test = types.HealthCheckTest{"CMD", "wget", "--spider", "http://localhost:5000/status"}
	project.Services["storage"] = storage
	if _, stuck := simulate(project); stuck["gateway"] == "" || stuck["storage"] == "" {
		t.Errorf("a failing check of storage stops only %v", stuck)
	}
}

// simulate returns the order in which services reach their final state, and the reasons of those
// that do not.
func simulate(project *types.Project) (order []string, stuck map[string]string) {
	done := map[string]types.ServiceConfig{}
	for {
		stuck = map[string]string{}
		before := len(order)
		names := project.ServiceNames()
		slices.Sort(names)
		for _, name := range names {
			if _, ok := done[name]; ok {
				continue
			}
			service := project.Services[name]
			if why := blocked(service, done); why != "" {
				stuck[name] = why
				continue
			}
			done[name] = service
			order = append(order, name)
		}
		if len(order) == before {
			return order, stuck
		}
	}
}

// blocked returns why a service cannot reach its final state yet, or "".
func blocked(service types.ServiceConfig, done map[string]types.ServiceConfig) string {
	for needed, condition := range service.DependsOn {
		other, ok := done[needed]
		if !ok {
			return "waits for " + needed
		}
		if condition.Condition == types.ServiceConditionCompletedSuccessfully && other.Restart != "no" {
			return needed + " never ends"
		}
	}
	if service.HealthCheck == nil {
		return ""
	}
	if err := images[service.Image].check(service.HealthCheck.Test); err != nil {
		return err.Error()
	}
	return ""
}
