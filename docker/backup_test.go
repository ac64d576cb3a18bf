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

// fakeDocker keeps volumes as folders of $VOLUMES, runs tar on this machine and writes down what it was asked.
const fakeDocker = `#!/bin/sh
echo "$*" >>"$VOLUMES/.asked"
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

// TestBackupAndRestore: what docker/backup.sh copies is what docker/restore.sh puts into an empty project, with the stack
// stopped in between, and nothing is ever overwritten.
func TestBackupAndRestore(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("GNU tar stands in for the container's")
	}
	dir := t.TempDir()
	volumes := filepath.Join(dir, "volumes")
	write := func(name, text string, mode fs.FileMode) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/docker", fakeDocker, 0o755)
	write("volumes/daawo_db-data/PG_VERSION", "17", 0o600)
	write("volumes/daawo_db-config/pgsodium_root.key", "key", 0o400)
	write("volumes/daawo_storage-data/daawo/daawo/report-photos/1.jpg/v1", "photo", 0o644)
	attributed := setAttribute(t, filepath.Join(volumes, "daawo_storage-data/daawo/daawo/report-photos/1.jpg/v1"), "image/jpeg")

	run := func(project string, script string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "./"+script, args...)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "VOLUMES="+volumes, "COMPOSE_PROJECT_NAME="+project)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	copied := filepath.Join(dir, "copy")
	if out, err := run("other", "backup.sh", copied); err == nil || !strings.Contains(out, "There is no volume other_db-data") {
		t.Errorf("a project that is not there: %v %s", err, out)
	}
	if out, err := run("daawo", "backup.sh", copied); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	asked := readFile(t, filepath.Join(volumes, ".asked"))
	stop, start := strings.Index(asked, "compose stop"), strings.Index(asked, "compose start")
	if run := strings.Index(asked, "run --rm"); stop < 0 || run < stop || start < strings.LastIndex(asked, "run --rm") {
		t.Errorf("the stack was not stopped while the volumes were copied:\n%s", asked)
	}
	if out, err := run("daawo", "backup.sh", copied); err == nil || !strings.Contains(out, "is not empty") {
		t.Errorf("over another backup: %v %s", err, out)
	}
	// The way out names what the backup replaces, not the other volumes of the project.
	out, err := run("daawo", "restore.sh", copied)
	if err == nil || !strings.Contains(out, "exists") || !strings.Contains(out, "docker volume rm daawo_db-data daawo_db-config daawo_storage-data\n") {
		t.Errorf("over a project with data: %v %s", err, out)
	}
	if out, err := run("fresh", "restore.sh", copied); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	diff := exec.CommandContext(t.Context(), "sh", "-c", "for v in db-data db-config storage-data; do diff -r daawo_$v fresh_$v; done")
	diff.Dir = volumes
	if out, err := diff.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("what came back differs: %v\n%s", err, out)
	}
	if info, err := os.Stat(filepath.Join(volumes, "fresh_db-config/pgsodium_root.key")); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("the key came back as %v (%v)", info, err)
	}
	if attributed {
		if got := attribute(t, filepath.Join(volumes, "fresh_storage-data/daawo/daawo/report-photos/1.jpg/v1")); got != "image/jpeg" {
			t.Errorf("the type of the file came back as %q", got)
		}
	}
	write("copy/db-data.tar.gz", "damaged", 0o600)
	if out, err := run("third", "restore.sh", copied); err == nil {
		t.Errorf("a damaged backup was restored: %s", out)
	}
}
