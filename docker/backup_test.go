package docker_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeDocker keeps volumes as folders of $VOLUMES, runs tar on this machine and records its arguments.
const fakeDocker = `#!/bin/sh
echo "$*" >>"$VOLUMES/.calls"
case "$1 $2" in
"volume inspect") test -d "$VOLUMES/$3" ;;
"volume create") for last; do :; done; mkdir "$VOLUMES/$last" ;;
"run --rm")
	shift 2
	map=
	while :; do
		case "$1" in
		-v) place=${2%%:*}; rest=${2#*:}; [ "${place#/}" != "$place" ] || place=$VOLUMES/$place
			map="$map;s|${rest%%:*}|$place|"; shift 2 ;;
		--user | --network | --entrypoint) shift 2 ;;
		*) shift; break ;; # the image
		esac
	done
	for word; do
		set -- "$@" "$(echo "$word" | sed "$map")"
		shift
	done
	exec tar "$@"
	;;
esac
`

// storedFile is a file of storage in its volume.
const storedFile = "daawo/daawo/report-photos/1.jpg/v1"

// TestBackupAndRestore checks that docker/restore.sh restores the copy of docker/backup.sh into an empty project, that the stack
// is stopped during the copy, and that nothing is overwritten.
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
	v.fails("daawo", "restore.sh", target, "exists", "docker volume rm daawo_db-data daawo_db-config daawo_storage-data\n")
	v.succeeds("fresh", "restore.sh", target)
	v.checkRestored(hasAttributes)
	v.write("copy/db-data.tar.gz", "damaged", 0o600)
	v.fails("third", "restore.sh", target)
}

// volumes are the volumes of project daawo for the scripts, with the fake docker.
type volumes struct {
	t         *testing.T
	root, dir string // dir holds the volumes
}

func newVolumes(t *testing.T) *volumes {
	t.Helper()
	root := t.TempDir()
	v := &volumes{t, root, filepath.Join(root, "volumes")}
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

// run runs a script for a project with the fake docker.
func (v *volumes) run(project, script, target string) (string, error) {
	cmd := exec.CommandContext(v.t.Context(), "./"+script, target)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(v.root, "bin")+":"+os.Getenv("PATH"), "VOLUMES="+v.dir, "COMPOSE_PROJECT_NAME="+project)
	out, err := cmd.CombinedOutput()
	return string(out), err
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
	diff := exec.CommandContext(t.Context(), "sh", "-c", "for v in db-data db-config storage-data; do diff -r daawo_$v fresh_$v; done")
	diff.Dir = v.dir
	if out, err := diff.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("restored files differ: %v\n%s", err, out)
	}
	if info, err := os.Stat(filepath.Join(v.dir, "fresh_db-config/pgsodium_root.key")); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("restored key: %v (%v)", info, err)
	}
	if hasAttributes {
		if got := attribute(t, filepath.Join(v.dir, "fresh_storage-data", storedFile)); got != "image/jpeg" {
			t.Errorf("restored content type: %q", got)
		}
	}
}
