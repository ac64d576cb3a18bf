package stack_test

import (
	"archive/zip"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// publicPath is a module path with a host.
const publicPath = "example.org/x/daawo"

// publicVersion is the version that the tests publish.
const publicVersion = "v1.2.3"

// run runs a program in a folder and returns its output.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// copyRepository copies the files that git knows or does not ignore.
func copyRepository(t *testing.T) (dir string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir, dir = root(t), t.TempDir()
	names, err := list.Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		from, to := filepath.Join(list.Dir, name), filepath.Join(dir, name)
		info, err := os.Lstat(from)
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted, or a link
		}
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, content, info.Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// publish writes a module into a folder that Go reads as a proxy, and returns its address.
func publish(t *testing.T, repository string) string {
	t.Helper()
	proxy := t.TempDir()
	dir := filepath.Join(proxy, publicPath, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": publicVersion + "\n", publicVersion + ".mod": string(mod),
		publicVersion + ".info": `{"Version":"` + publicVersion + `"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Create(filepath.Join(dir, publicVersion+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := zip.NewWriter(file)
	err = filepath.WalkDir(repository, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		w, err := archive.Create(publicPath + "@" + publicVersion + strings.TrimPrefix(filepath.ToSlash(name),
			filepath.ToSlash(repository)))
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + filepath.ToSlash(proxy)
}

// proxyEnv returns the environment of Go commands that download the published module from its
// proxy, and others from the module cache of this machine if they are there. Modules are unpacked
// into a folder of the test.
func proxyEnv(t *testing.T, proxy string) []string {
	t.Helper()
	var have struct{ GOMODCACHE, GOPROXY string }
	if err := json.Unmarshal([]byte(run(t, ".", nil, "go", "env", "-json", "GOMODCACHE", "GOPROXY")),
		&have); err != nil {
		t.Fatal(err)
	}
	return []string{"GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-mod=mod -trimpath -modcacherw", "GOMODCACHE=" +
		t.TempDir(), "GOGC=off", "GOMEMLIMIT=1GiB",
		"GOPROXY=" + proxy + ",file://" + filepath.ToSlash(have.GOMODCACHE) + "/cache/download," + have.GOPROXY,
		"GONOSUMDB=" + publicPath}
}

// TestModulePath gives a copy of the repository a path with a host, publishes it, and builds the
// program of docs/library.md and a project of `init --functions` with it, both without replace.
func TestModulePath(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the stack under another path")
	}
	repository := copyRepository(t)
	run(t, repository, nil, "scripts/module-path.sh", "-n", publicPath)
	// fails if an import has the old path
	packages := run(t, repository, []string{"GOFLAGS="}, "go", "list", "-test", "-deps", "./...")
	if !strings.Contains(packages, publicPath+"/supabase/stack\n") {
		t.Errorf("the module has not its path:\n%s", packages)
	}
	env := proxyEnv(t, publish(t, repository))

	clinic := t.TempDir()
	writeGuide(t, repository, clinic)
	mod, err := os.ReadFile(filepath.Join(clinic, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^replace .*\n`).ReplaceAllString(string(mod), "")
	text = strings.Replace(text, publicPath+" v0.0.0", publicPath+" "+publicVersion, 1)
	if err := os.WriteFile(filepath.Join(clinic, "go.mod"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, clinic, env, "go", "build", unoptimized, "-o", "clinic", ".")
	built := run(t, clinic, nil, "go", "version", "-m", "clinic")
	if !strings.Contains(built, "\tdep\t"+publicPath+"\t"+publicVersion+"\th1:") || strings.Contains(built, "=>") {
		t.Errorf("the program has not the published module:\n%s", built)
	}

	run(t, clinic, nil, "./clinic", "init", "shop", "--functions")
	shop := filepath.Join(clinic, "shop")
	if mod, err = os.ReadFile(filepath.Join(shop, "go.mod")); err != nil ||
		!strings.Contains(string(mod), "\nrequire "+publicPath+" "+publicVersion+"\n") {
		t.Errorf("init --functions: %v\n%s", err, mod)
	}
	if _, err := os.Stat(filepath.Join(shop, "third_party")); err == nil {
		t.Error("init --functions copied the packages")
	}
	run(t, shop, env, "go", "build", unoptimized, "./functions/...")
}
