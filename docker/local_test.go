package docker_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// clone is a folder with the files of a fresh clone that Compose reads, and maybe an .env.
type clone struct {
	t    *testing.T
	dir  string
	vars []string // of the shell
}

func newClone(t *testing.T, env string) clone {
	t.Helper()
	c := clone{t: t, dir: t.TempDir()}
	files := []string{"compose.yaml", "docker/compose.yaml", "docker/local.env", "docker/tls.yaml"}
	for _, name := range files {
		c.write(name, readFile(t, "../"+name))
	}
	if env != "" {
		c.write(".env", env)
	}
	return c
}

func (c clone) write(name, text string) {
	c.t.Helper()
	name = filepath.Join(c.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		c.t.Fatal(err)
	}
}

// load is docker compose config in the folder, with further files and profiles.
func (c clone) load(profiles []string, over ...string) (*types.Project, error) {
	files := []string{filepath.Join(c.dir, "compose.yaml")}
	for _, name := range over {
		files = append(files, filepath.Join(c.dir, name))
	}
	options, err := cli.NewProjectOptions(files, cli.WithWorkingDirectory(c.dir), cli.WithProfiles(profiles),
		cli.WithEnv(c.vars), cli.WithEnvFiles(), cli.WithDotEnv)
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

// local is the project of docker compose up without an .env.
func local(t *testing.T, profiles ...string) *types.Project {
	t.Helper()
	project, err := newClone(t, "").load(profiles)
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// TestUpWithoutEnv checks that docker compose up in a fresh clone is a complete project for this
// machine alone: the whole stack with Realtime and the inbox, every port on loopback, every
// variable with a value.
func TestUpWithoutEnv(t *testing.T) {
	project := local(t)
	want := []string{"auth", "db", "functions", "gateway", "imgproxy", "mailpit", "meta", "migrate", "realtime", "rest",
		"roles", "storage", "studio"}
	got := project.ServiceNames()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("services %v, want %v", got, want)
	}
	if project.Name != "daawo" {
		t.Errorf("project name %q", project.Name)
	}
	all := local(t, "*")
	for name, service := range all.Services {
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %d on %q", name, port.Target, port.HostIP)
			}
		}
		for _, v := range service.Volumes {
			if v.Type == types.VolumeTypeBind && !strings.HasPrefix(v.Source+"/", filepath.Dir(all.WorkingDir)) {
				t.Errorf("%s mounts %s", name, v.Source)
			}
		}
	}
	gateway := project.Services["gateway"].Environment
	for name, want := range map[string]string{
		"SITE_URL": "http://localhost:54321", "STUDIO_URL": "http://localhost:54323",
		"INBOX_URL": "http://localhost:54324", "PUBLISHED_ON": "127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1",
		"DESK_URL": "http://localhost:54325",
	} {
		if got := gateway[name]; got == nil || *got != want {
			t.Errorf("%s of the gateway is %v, want %s", name, got, want)
		}
	}
}

// TestNoSuperuser checks that no service but the database itself and roles signs in to Postgres as
// its superuser.
func TestNoSuperuser(t *testing.T) {
	for name, service := range local(t, "*").Services {
		if slices.Contains([]string{"db", "roles"}, name) {
			continue
		}
		words := append(slices.Clone([]string(service.Command)), service.Entrypoint...)
		for key, value := range service.Environment {
			if value != nil {
				words = append(words, key+"="+*value)
			}
		}
		for _, word := range words {
			if strings.Contains(word, "supabase_admin") {
				t.Errorf("%s acts as the superuser: %s", name, word)
			}
		}
	}
	for service, variable := range map[string]string{"meta": "PG_META_DB_USER", "studio": "POSTGRES_USER_READ_WRITE"} {
		if got := local(t).Services[service].Environment[variable]; got == nil || *got != "postgres" {
			t.Errorf("%s of %s is not postgres", variable, service)
		}
	}
}

// TestSiteDoesNotWaitForStudio checks that the public site starts without Studio, also indirectly.
func TestSiteDoesNotWaitForStudio(t *testing.T) {
	project := local(t)
	waits := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		for needed := range project.Services[name].DependsOn {
			if !waits[needed] {
				waits[needed] = true
				visit(needed)
			}
		}
	}
	visit("gateway")
	for _, name := range []string{"studio", "meta", "realtime", "mailpit"} {
		if waits[name] {
			t.Errorf("the gateway waits for %s", name)
		}
	}
	if !waits["functions"] || !waits["migrate"] {
		t.Errorf("the gateway waits only for %v", waits)
	}
}

// generated returns the output of scripts/generate-env.sh.
func generated(t *testing.T, env ...string) string {
	t.Helper()
	script := exec.CommandContext(t.Context(), "../scripts/generate-env.sh")
	script.Env = append(os.Environ(), env...)
	out, err := script.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// variables parses an .env without quotes inside values.
func variables(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			all[name] = strings.Trim(value, "'")
		}
	}
	return all
}

// TestGeneratedEnvironment checks that the .env of scripts/generate-env.sh replaces every secret of
// local.env, that two files share no secrets, that the project has no inbox, and that a line left
// empty is named.
func TestGeneratedEnvironment(t *testing.T) {
	public := []string{"SITE_URL=https://example.org", "ADMIN_EMAIL=a@example.org", "SMTP_HOST=smtp.example.org",
		"SMTP_ADMIN_EMAIL=b@example.org"}
	text := generated(t, public...)
	first, second := variables(text), variables(generated(t))
	secret := regexp.MustCompile(`PASSWORD|SECRET|KEY`)
	for name, value := range variables(readFile(t, "local.env")) {
		if secret.MatchString(name) && (first[name] == "" || first[name] == value || first[name] == second[name]) {
			t.Errorf("%s is not new in every file", name)
		}
	}
	project, err := newClone(t, text).load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if scale := project.Services["mailpit"].Scale; scale == nil || *scale != 0 {
		t.Errorf("mailpit has scale %v", scale)
	}
	if got := *project.Services["functions"].Environment["SMTP_HOST"]; got != "smtp.example.org" {
		t.Errorf("the mail server is %s", got)
	}
	empty := regexp.MustCompile(`(?m)^SMTP_HOST=.*$`).ReplaceAllString(text, "SMTP_HOST=")
	if _, err := newClone(t, empty).load(nil); err == nil || !strings.Contains(err.Error(), "SMTP_HOST") ||
		!strings.Contains(err.Error(), ".env") {
		t.Errorf("an empty SMTP_HOST: %v", err)
	}
}

// TestEnvOverridesLocal checks that .env takes precedence over local.env, and that the shell's
// variables take precedence over both.
func TestEnvOverridesLocal(t *testing.T) {
	c := newClone(t, "POSTGRES_PASSWORD=own\nAPI_PORT=9000\n")
	c.vars = []string{"API_PORT=8000"}
	project, err := c.load(nil)
	if err != nil {
		t.Fatal(err)
	}
	gateway := project.Services["gateway"]
	if site := *gateway.Environment["SITE_URL"]; site != "http://localhost:8000" ||
		gateway.Ports[0].Published != "8000" {
		t.Errorf("%s, port %s", site, gateway.Ports[0].Published)
	}
	if password := *project.Services["db"].Environment["POSTGRES_PASSWORD"]; password != "own" {
		t.Errorf("password %q", password)
	}
}

// TestTLSPorts checks that the port without TLS is published on loopback only.
func TestTLSPorts(t *testing.T) {
	project, err := newClone(t, "TLS_DOMAINS=example.org\n").load(nil, "docker/tls.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ports := map[uint32]string{}
	for _, port := range project.Services["gateway"].Ports {
		if _, twice := ports[port.Target]; twice {
			t.Errorf("%d is published twice", port.Target)
		}
		ports[port.Target] = port.HostIP
	}
	if len(ports) != 5 || ports[443] != "" || ports[80] != "" || ports[54321] != "127.0.0.1" ||
		ports[54323] != "127.0.0.1" || ports[54325] != "127.0.0.1" {
		t.Errorf("published: %v", ports)
	}
}

// TestMountedFilesExist checks that every file and folder of the clone that a service mounts is in
// the repository.
func TestMountedFilesExist(t *testing.T) {
	for name, service := range load(t).Services {
		for _, v := range service.Volumes {
			if v.Type != types.VolumeTypeBind {
				continue
			}
			if _, err := os.Stat(v.Source); errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s mounts %s, which does not exist", name, v.Source)
			}
		}
	}
}
