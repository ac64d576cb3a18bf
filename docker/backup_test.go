package docker_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// fakeDocker keeps volumes as folders of $VOLUMES, runs the programs of containers on this machine
// and records its arguments. It fails for arguments that match $FAIL.
const fakeDocker = `#!/bin/sh
echo "$*" >>"$VOLUMES/.calls"
[ -z "${FAIL:-}" ] || case "$*" in $FAIL) exit 1 ;; esac
case "$1 $2" in
"volume inspect") test -d "$VOLUMES/$3" ;;
"volume create") for last; do :; done; mkdir "$VOLUMES/$last" ;;
"compose config") echo "$IMAGES" ;;
"run --rm")
	shift 2
	map= program=
	while :; do
		case "$1" in
		-v) place=${2%%:*}; rest=${2#*:}; [ "${place#/}" != "$place" ] || place=$VOLUMES/$place
			map="$map;s|${rest%%:*}|$place|"; shift 2 ;;
		--entrypoint) program=$2; shift 2 ;;
		--user | --network) shift 2 ;;
		*) shift; break ;; # the image
		esac
	done
	for word; do
		set -- "$@" "$(echo "$word" | sed "$map")"
		shift
	done
	exec "$program" "$@"
	;;
esac
`

// storedFile is a file of storage in its volume.
const storedFile = "daawo/daawo/report-photos/1.jpg/v1"

// TestBackupAndRestore checks that docker/restore.sh restores the copy of docker/backup.sh into an
// empty project, that the stack is stopped during the copy, and that nothing is overwritten.
func TestBackupAndRestore(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs GNU tar")
	}
	v := newVolumes(t)
	hasAttributes := setAttribute(t, filepath.Join(v.dir, "daawo_storage-data", storedFile), "image/jpeg")
	target := filepath.Join(v.root, "copy")

	v.fails("other", "backup.sh", target, "Volume other_db-data does not exist")
	v.succeeds("daawo", "backup.sh", target)
	calls := readFile(t, filepath.Join(v.dir, ".calls"))
	stop, start := strings.Index(calls, "compose stop"), strings.Index(calls, "compose start")
	if run := strings.Index(calls, "run --rm"); stop < 0 || run < stop || start < strings.LastIndex(calls, "run --rm") {
		t.Errorf("the stack was not stopped during the copy:\n%s", calls)
	}
	v.fails("daawo", "backup.sh", target, "is not empty")
	// The message must list only the volumes that the backup replaces.
	v.fails("daawo", "restore.sh", target, "exists",
		"docker volume rm daawo_db-data daawo_db-config daawo_storage-data\n")
	v.succeeds("fresh", "restore.sh", target)
	v.checkRestored(hasAttributes)
	v.write("copy/db-data.tar.gz", "damaged", 0o600)
	v.fails("third", "restore.sh", target)
	v.checkAllLinesRan("backup.sh", "restore.sh")
}

// TestUpgrade walks through docker/upgrade.sh: a backup first, then the images, then the start. A
// new major version of Postgres and a step that fails stop it.
func TestUpgrade(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs GNU tar")
	}
	v := newVolumes(t)
	target := filepath.Join(v.root, "copy")

	v.write("volumes/daawo_db-data/PG_VERSION", "16\n", 0o600)
	v.fails("daawo", "upgrade.sh", target, "Postgres 16", "Postgres 17", "transfer export")
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused upgrade made a backup: %v", err)
	}
	v.write("volumes/daawo_db-data/PG_VERSION", "17\n", 0o600)
	v.succeeds("daawo", "upgrade.sh", target)
	v.calls("compose stop", "run --rm", "compose start", "compose pull\n", "compose up --detach --wait")
	v.images = "supabase/gotrue\nlocalhost/daawo:latest"
	v.succeeds("daawo", "upgrade.sh", target+"-built")
	v.calls("compose stop", "run --rm", "compose start", "compose pull --ignore-buildable", "compose build --pull",
		"compose up --detach --wait")
	for _, step := range []string{"compose pull*", "compose build*", "compose up*"} {
		v.fail = step
		v.fails("daawo", "upgrade.sh", target+step, "The way back is in docs/docker.md")
	}
	v.checkAllLinesRan("upgrade.sh")
}

// calls checks the commands of docker since the last check, in their order.
func (v *volumes) calls(want ...string) {
	v.t.Helper()
	calls := readFile(v.t, filepath.Join(v.dir, ".calls"))
	if err := os.Truncate(filepath.Join(v.dir, ".calls"), 0); err != nil {
		v.t.Fatal(err)
	}
	calls = calls[strings.Index(calls, want[0]):]
	for _, call := range want {
		_, after, found := strings.Cut(calls, call)
		if !found {
			v.t.Errorf("%q is missing or too early", call)
			break
		}
		calls = after
	}
}

// checkAllLinesRan checks that every command of the scripts ran at least once.
func (v *volumes) checkAllLinesRan(scripts ...string) {
	v.t.Helper()
	structure := regexp.MustCompile(`^\s*(#.*|else|fi|done|}|esac|)$|^\s*(echo .*)$`)
	for _, script := range scripts {
		continued := false
		for i, line := range strings.Split(readFile(v.t, script), "\n") {
			if first := !continued; first && !structure.MatchString(line) && !v.lines[script][i+1] &&
				!strings.HasPrefix(line, "trap ") {
				v.t.Errorf("%s:%d never ran: %s", script, i+1, line)
			}
			continued = strings.HasSuffix(line, `\`)
		}
	}
}

// volumes are the volumes of project daawo for the scripts, with the fake docker.
type volumes struct {
	t         *testing.T
	root, dir string                  // dir holds the volumes
	fail      string                  // pattern of the docker commands that fail
	images    string                  // of the compose file
	lines     map[string]map[int]bool // run, by script
}

func newVolumes(t *testing.T) *volumes {
	t.Helper()
	root := t.TempDir()
	v := &volumes{t: t, root: root, dir: filepath.Join(root, "volumes"), lines: map[string]map[int]bool{}}
	v.write("bin/docker", fakeDocker, 0o755)
	v.write("volumes/daawo_db-data/PG_VERSION", "17", 0o600)
	v.write("volumes/daawo_db-config/pgsodium_root.key", "key", 0o400)
	v.write("volumes/daawo_storage-data/"+storedFile, "photo", 0o644)
	return v
}

func (v *volumes) write(name, text string, mode fs.FileMode) {
	v.t.Helper()
	name = filepath.Join(v.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), mode)); err != nil {
		v.t.Fatal(err)
	}
}

// tracedLine is a line of the trace of a script.
var tracedLine = regexp.MustCompile(`(?m)^\++(\S+):(\d+): `)

// run runs a script for a project with the fake docker, and records its lines.
func (v *volumes) run(project, script, target string) (string, error) {
	// For root, bash takes PS4 not from the environment.
	cmd := exec.CommandContext(v.t.Context(), "bash", "-c", `PS4='+${0##*/}:$LINENO: '; set -x; . "$0"`, "./"+script,
		target)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(v.root, "bin")+":"+os.Getenv("PATH"), "VOLUMES="+v.dir,
		"COMPOSE_PROJECT_NAME="+project, "FAIL="+v.fail, "IMAGES="+v.images)
	out, err := cmd.CombinedOutput()
	var rest strings.Builder
	for line := range strings.Lines(string(out)) {
		m := tracedLine.FindStringSubmatch(line)
		if m == nil {
			rest.WriteString(line)
			continue
		}
		if v.lines[m[1]] == nil {
			v.lines[m[1]] = map[int]bool{}
		}
		n, _ := strconv.Atoi(m[2]) // digits
		v.lines[m[1]][n] = true
	}
	return rest.String(), err
}

func (v *volumes) succeeds(project, script, target string) {
	v.t.Helper()
	if out, err := v.run(project, script, target); err != nil {
		v.t.Fatalf("%v\n%s", err, out)
	}
}

// fails checks that a script fails and prints the words.
func (v *volumes) fails(project, script, target string, words ...string) {
	v.t.Helper()
	out, err := v.run(project, script, target)
	if err == nil {
		v.t.Errorf("%s succeeded for project %s: %s", script, project, out)
	}
	for _, w := range words {
		if !strings.Contains(out, w) {
			v.t.Errorf("%s for project %s does not print %q: %s", script, project, w, out)
		}
	}
}

// checkRestored compares the volumes of project fresh with the originals.
func (v *volumes) checkRestored(hasAttributes bool) {
	t := v.t
	t.Helper()
	diff := exec.CommandContext(t.Context(), "sh", "-c",
		"for v in db-data db-config storage-data; do diff -r daawo_$v fresh_$v; done")
	diff.Dir = v.dir
	if out, err := diff.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("restored files differ: %v\n%s", err, out)
	}
	if info, err := os.Stat(filepath.Join(v.dir, "fresh_db-config/pgsodium_root.key")); err != nil ||
		info.Mode().Perm() != 0o400 {
		t.Errorf("restored key: %v (%v)", info, err)
	}
	if hasAttributes {
		if got := attribute(t, filepath.Join(v.dir, "fresh_storage-data", storedFile)); got != "image/jpeg" {
			t.Errorf("restored content type: %q", got)
		}
	}
}
