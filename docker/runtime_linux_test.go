package docker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
)

// root is what a pinned image has where a container starts and where compose.yaml mounts something.
type root struct {
	entrypoint []string       // absolute path of the program, then its arguments
	programs   []string       // further programs that compose.yaml names instead
	user       int            // user and group of the first process
	folders    map[string]int // owners of folders; a volume on one of them begins with its owner
	writes     []string       // folders outside of volumes to which the program writes
}

// roots is the table of the pinned images. A new tag needs a new look at the image's Dockerfile.
var roots = map[string]root{
	"supabase/postgres:17.6.1.136": {
		entrypoint: []string{"/usr/local/bin/docker-entrypoint.sh"}, programs: []string{"/usr/bin/psql"},
		folders: map[string]int{"/var/lib/postgresql/data": 101, "/etc/postgresql-custom": 101, "/tmp": 0},
		writes:  []string{"/tmp"},
	},
	"supabase/gotrue:v2.196.0": {
		entrypoint: []string{"/usr/local/bin/auth"}, user: 1000,
		folders: map[string]int{"/tmp": 0},
	},
	"postgrest/postgrest:v16.2": {programs: []string{"/bin/postgrest"}, user: 1000},
	"darthsim/imgproxy:v3.31.4": {
		entrypoint: []string{"/usr/local/bin/entrypoint.sh"}, user: 999,
		folders: map[string]int{"/tmp": 0},
		writes:  []string{"/tmp"},
	},
	"supabase/storage-api:v1.74.0": {
		entrypoint: []string{"/usr/local/bin/docker-entrypoint.sh"},
		folders:    map[string]int{"/app": 0, "/tmp": 0},
		writes:     []string{"/tmp"},
	},
	"supabase/postgres-meta:v0.99.0": {
		entrypoint: []string{"/usr/local/bin/docker-entrypoint.sh"},
		folders:    map[string]int{"/tmp": 0},
	},
	"supabase/studio:2026.09.07-sha-7996410": {
		entrypoint: []string{"/usr/local/bin/docker-entrypoint.sh"},
		folders:    map[string]int{"/app": 0, "/tmp": 0},
		writes:     []string{"/tmp"},
	},
	// run.sh changes to user 65534 by sudo.
	"supabase/realtime:v2.134.10": {
		entrypoint: []string{"/usr/bin/tini", "-s", "-g", "--", "/app/run.sh"},
		folders:    map[string]int{"/app": 65534, "/tmp": 0},
		writes:     []string{"/app", "/tmp"},
	},
	"supabase/supavisor:2.9.12": {
		entrypoint: []string{"/usr/bin/tini", "-s", "-g", "--", "/app/limits.sh"},
		folders:    map[string]int{"/app": 65534, "/tmp": 0},
		writes:     []string{"/app"},
	},
	"axllent/mailpit:v1.31.3": {
		entrypoint: []string{"/mailpit"},
		folders:    map[string]int{"/tmp": 0},
		writes:     []string{"/tmp"},
	},
	ourImage: {
		entrypoint: []string{"/daawo"}, user: imageUser,
		folders: map[string]int{"/data": imageUser, "/tmp": 0},
		writes:  []string{"/tmp"},
	},
}

// foldersOf lists variables that name a folder to which the service writes.
var foldersOf = []string{"TMPDIR", "DAAWO_DATA", "FILE_STORAGE_BACKEND_PATH",
	"STORAGE_FILE_BACKEND_PATH", "SNIPPETS_MANAGEMENT_FOLDER"}

// defaultCapabilities are those that Docker gives a container.
var defaultCapabilities = strings.Fields(`CAP_AUDIT_WRITE CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER
	CAP_FSETID CAP_KILL CAP_MKNOD
	CAP_NET_BIND_SERVICE CAP_NET_RAW CAP_SETFCAP CAP_SETGID CAP_SETPCAP CAP_SETUID CAP_SYS_CHROOT`)

// TestServicesStart starts a stand-in for the program of every service of compose.yaml with runc,
// as Docker does: with the service's mounts, user, capabilities and entrypoint on a root file
// system with the image's folders. The stand-in reads every mount and writes where the program
// does.
func TestServicesStart(t *testing.T) {
	rt := newRuntime(t)
	project := load(t)
	order, _ := simulate(local(t, "*"))
	if len(order) != len(project.Services) {
		t.Fatalf("%d of %d services would start", len(order), len(project.Services))
	}
	for _, name := range order { // so that imgproxy and transfer see what storage wrote
		t.Run(name, func(t *testing.T) {
			service := project.Services[name]
			image, ok := roots[service.Image]
			if !ok {
				t.Fatalf("no root file system is known for %s", service.Image)
			}
			if out, err := rt.start(t, container{service, image}); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// ociRuntime starts containers. Volumes live as long as the test, as in one project.
type ociRuntime struct {
	runc, state, standin, volumes string
}

// newRuntime skips the test if this machine cannot start containers.
func newRuntime(t *testing.T) ociRuntime {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "../scripts/ensure-runc.sh").Output()
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		t.Skipf("not run: %s", strings.TrimSpace(string(exit.Stderr)))
	}
	rt := ociRuntime{strings.TrimSpace(string(out)), t.TempDir(), filepath.Join(t.TempDir(), "standin"), t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", rt.standin, "./testdata/standin")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	simple := types.ServiceConfig{Name: "probe"}
	if out, err := rt.start(t, container{simple, root{entrypoint: []string{"/probe"}}}); err != nil {
		t.Skipf("not run: this machine does not let runc start a container: %s", out)
	}
	return rt
}

// container is a service with the root file system of its image.
type container struct {
	types.ServiceConfig
	image root
}

// needs tells the stand-in what to check.
type needs struct {
	Read, Write, Protected []string
}

// start builds the bundle of a container and runs it to its end.
func (rt ociRuntime) start(t *testing.T, c container) (string, error) {
	t.Helper()
	bundle := t.TempDir()
	for _, name := range append([]string{c.entrypoint()[0]}, c.image.programs...) {
		target := filepath.Join(bundle, "rootfs", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), copyProgram(rt.standin, target)); err != nil {
			t.Fatal(err)
		}
	}
	for name, owner := range c.image.folders {
		mode := fs.FileMode(0o755)
		if name == "/tmp" {
			mode = 0o777 | fs.ModeSticky
		}
		makeFolder(t, filepath.Join(bundle, "rootfs", name), owner, mode)
	}
	mounts, n := rt.mounts(t, c)
	writeJSON(t, filepath.Join(bundle, "rootfs/needs.json"), n)
	writeJSON(t, filepath.Join(bundle, "config.json"), c.config(mounts))

	id := fmt.Sprintf("daawo-%d-%s", os.Getpid(), c.Name)
	run := exec.CommandContext(t.Context(), rt.runc, "--root", rt.state, "run", "--bundle", bundle, id)
	out, err := run.CombinedOutput()
	if err != nil { // a container that did not start may remain
		_ = exec.Command(rt.runc, "--root", rt.state, "delete", "--force", id).Run()
	}
	return string(out), err
}

// entrypoint returns the program with its arguments. A program without a folder is one of the
// image's.
func (c container) entrypoint() []string {
	words := append(slices.Clone(c.image.entrypoint), c.Command...)
	if len(c.Entrypoint) > 0 {
		words = append(slices.Clone([]string(c.Entrypoint)), c.Command...)
	}
	for _, program := range c.image.programs {
		if words[0] == filepath.Base(program) {
			words[0] = program
		}
	}
	return words
}

// user returns the user and the group of the first process.
func (c container) user() (uid, gid int) {
	uid, gid = c.image.user, c.image.user
	if u, g, ok := strings.Cut(c.User, ":"); ok {
		uid, _ = strconv.Atoi(u) // TestServerPrivileges checks the users
		gid, _ = strconv.Atoi(g)
	}
	return uid, gid
}

func (c container) capabilities() []string {
	var list []string
	if !slices.Contains(c.CapDrop, "ALL") {
		list = slices.Clone(defaultCapabilities)
	}
	for _, name := range c.CapAdd {
		list = append(list, "CAP_"+name)
	}
	return list
}

type mount struct {
	Destination string   `json:"destination"`
	Type        string   `json:"type"`
	Source      string   `json:"source"`
	Options     []string `json:"options"`
}

// mounts returns the service's mounts in Docker's order, and what the stand-in must be able to do.
func (rt ociRuntime) mounts(t *testing.T, c container) ([]mount, needs) {
	t.Helper()
	n := needs{Write: slices.Clone(c.image.writes)}
	list := []mount{{"/proc", "proc", "proc", nil}, {"/dev", "tmpfs", "tmpfs", []string{"nosuid", "mode=755"}}}
	for _, target := range c.Tmpfs {
		list = append(list, mount{target, "tmpfs", "tmpfs", []string{"nosuid", "nodev", "noexec", "tmpcopyup"}})
		n.Write = append(n.Write, target)
	}
	for _, v := range c.Volumes {
		options := []string{"rbind", "rw"}
		n.Read = append(n.Read, v.Target)
		switch info, err := os.Stat(v.Source); {
		case v.ReadOnly:
			options[1] = "ro"
			if v.Type == types.VolumeTypeVolume || err == nil && info.IsDir() {
				n.Protected = append(n.Protected, v.Target)
			}
		default:
			n.Write = append(n.Write, v.Target)
		}
		list = append(list, mount{v.Target, "bind", rt.source(t, c, v), options})
	}
	for _, name := range foldersOf {
		if value := c.Environment[name]; value != nil {
			n.Write = append(n.Write, *value)
		}
	}
	for _, word := range slices.Concat(c.Entrypoint, c.Command) {
		for name := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune(`"$() `, r) }) {
			if slices.ContainsFunc(c.Volumes, func(v types.ServiceVolumeConfig) bool {
				return v.Target == name || strings.HasPrefix(name, v.Target+"/")
			}) {
				n.Read = append(n.Read, append(includes(t, name), name)...)
			}
		}
	}
	if c.ReadOnly {
		n.Protected = append(n.Protected, "/")
	}
	depth := func(m mount) int { return strings.Count(m.Destination, "/") }
	slices.SortStableFunc(list, func(a, b mount) int { return depth(a) - depth(b) })
	return list, n
}

// include is a line of psql that includes another file.
var include = regexp.MustCompile(`(?m)^\\(ir?) (\S+)$`)

// includes returns the files that a script for psql includes, as paths in the container.
func includes(t *testing.T, script string) (names []string) {
	if filepath.Ext(script) != ".sql" {
		return nil
	}
	text := readFile(t, filepath.Join("volumes/db", filepath.Base(script)))
	for _, m := range include.FindAllStringSubmatch(text, -1) {
		if m[1] == "ir" && !filepath.IsAbs(m[2]) {
			m[2] = filepath.Join(filepath.Dir(script), m[2])
		}
		names = append(names, m[2])
	}
	return names
}

// source returns the folder on this machine of a mount. A volume begins as Docker makes it: with
// the owner of the image's folder. A folder of the clone to which the service writes is replaced by
// an empty one with the same owner.
func (rt ociRuntime) source(t *testing.T, c container, v types.ServiceVolumeConfig) string {
	t.Helper()
	name := filepath.Join(rt.volumes, v.Source)
	if v.Type == types.VolumeTypeVolume {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			makeFolder(t, name, c.image.folders[v.Target], 0o755)
		}
		return name
	}
	if v.ReadOnly {
		return v.Source
	}
	info, err := os.Stat(v.Source)
	if err != nil {
		t.Fatal(err)
	}
	name = filepath.Join(t.TempDir(), "clone")
	makeFolder(t, name, int(info.Sys().(*syscall.Stat_t).Uid), info.Mode().Perm())
	return name
}

// config returns the OCI configuration of a container.
func (c container) config(mounts []mount) map[string]any {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		if value := c.Environment[name]; value != nil {
			env = append(env, name+"="+*value)
		}
	}
	uid, gid := c.user()
	capabilities := map[string][]string{"bounding": c.capabilities()}
	if uid == 0 {
		capabilities["effective"], capabilities["permitted"] = capabilities["bounding"], capabilities["bounding"]
	}
	var namespaces []map[string]string
	for _, kind := range []string{"pid", "mount", "ipc", "uts", "network"} {
		namespaces = append(namespaces, map[string]string{"type": kind})
	}
	return map[string]any{
		"ociVersion": "1.0.2",
		"hostname":   c.Name,
		"root":       map[string]any{"path": "rootfs", "readonly": c.ReadOnly},
		"mounts":     mounts,
		"linux":      map[string]any{"namespaces": namespaces},
		"process": map[string]any{
			"args": c.entrypoint(), "env": env, "cwd": "/", "user": map[string]int{"uid": uid, "gid": gid},
			"capabilities": capabilities, "noNewPrivileges": slices.Contains(c.SecurityOpt, "no-new-privileges:true"),
		},
	}
}

func makeFolder(t *testing.T, name string, owner int, mode fs.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(name, 0o755), os.Chmod(name, mode), os.Chown(name, owner, owner)); err != nil {
		t.Fatal(err)
	}
}

func writeJSON(t *testing.T, name string, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(name, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyProgram(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}

// TestBrokenServicesDoNotStart checks the runtime test with mistakes that Compose's loader accepts.
func TestBrokenServicesDoNotStart(t *testing.T) {
	rt := newRuntime(t)
	const data = "/data"
	bind := func(target string) types.ServiceVolumeConfig {
		source := t.TempDir()
		return types.ServiceVolumeConfig{Type: types.VolumeTypeBind, Source: source, Target: target, ReadOnly: true}
	}
	ours := roots[ourImage]
	ours.folders = map[string]int{"/tmp": 0}
	for name, tt := range map[string]struct {
		want string
		make func(*types.ServiceConfig)
	}{
		"nested": {"read-only file system", func(s *types.ServiceConfig) {
			s.Volumes = []types.ServiceVolumeConfig{bind("/a"), bind("/a/b")}
		}},
		"no-tmpfs": {"read-only file system", func(s *types.ServiceConfig) { s.ReadOnly = true }},
		"owner": {"permission denied", func(s *types.ServiceConfig) {
			s.Volumes = []types.ServiceVolumeConfig{{Type: types.VolumeTypeVolume, Source: "broken", Target: data}}
		}},
	} {
		service := types.ServiceConfig{Name: name}
		tt.make(&service)
		if out, err := rt.start(t, container{service, ours}); err == nil || !strings.Contains(out, tt.want) {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}
