package docker_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is the part of a workflow that the tests read.
type workflow struct {
	Jobs map[string]job
}

type job struct {
	Needs string
	Steps []struct{ Name, Uses, Run string }
}

// text returns the commands of the job's steps.
func (j job) text() string {
	var runs []string
	for _, step := range j.Steps {
		runs = append(runs, step.Run)
	}
	return strings.Join(runs, "\n")
}

// workflows returns the workflows and their texts by file name.
func workflows(t *testing.T) (map[string]workflow, map[string]string) {
	t.Helper()
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	all, texts := map[string]workflow{}, map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		texts[name] = readFile(t, file)
		var w workflow
		if err := yaml.Unmarshal([]byte(texts[name]), &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = w
	}
	return all, texts
}

// TestWorkflowsArePortable checks that the workflows run in every clone: they name no account, no
// secret but the run's own token, no runner but the public ones, and actions of few publishers,
// each by the hash of a commit with its version beside it.
func TestWorkflowsArePortable(t *testing.T) {
	all, texts := workflows(t)
	for _, name := range []string{"compose.yml", "release.yml", "test.yml"} {
		if _, ok := all[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	action := regexp.MustCompile(`^\s*(- )?uses: (actions|anchore)/[a-z-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)
	for name := range all {
		for _, m := range regexp.MustCompile(`secrets\.\w+|vars\.\w+|environment:|self-hosted|runs-on: .*`).FindAllString(texts[name], -1) {
			if m != "runs-on: ubuntu-24.04" {
				t.Errorf("%s has %s, which other accounts lack", name, m)
			}
		}
		for _, m := range regexp.MustCompile(`ghcr\.io/\S+`).FindAllString(texts[name], -1) {
			if !strings.HasPrefix(m, "ghcr.io/${GITHUB_REPOSITORY,,}") {
				t.Errorf("%s names the image of one account: %s", name, m)
			}
		}
		for _, line := range regexp.MustCompile(`(?m)^.*\buses:.*$`).FindAllString(texts[name], -1) {
			if !action.MatchString(line) {
				t.Errorf("%s: %s", name, strings.TrimSpace(line))
			}
		}
		if !strings.Contains(texts[name], "\nconcurrency:\n") {
			t.Errorf("%s has no concurrency group", name)
		}
	}
}

// TestWorkflowCommandsExist checks that the scripts and make targets of the workflows exist.
func TestWorkflowCommandsExist(t *testing.T) {
	all, _ := workflows(t)
	makefile := readFile(t, "../Makefile")
	for name, w := range all {
		for _, j := range w.Jobs {
			for _, step := range j.Steps {
				for _, m := range regexp.MustCompile(`(?m)\bmake ([a-z0-9-]+)`).FindAllStringSubmatch(step.Run, -1) {
					if !strings.Contains(makefile, "\n"+m[1]+":") {
						t.Errorf("%s: make %s", name, m[1])
					}
				}
				for _, path := range regexp.MustCompile(`\b(docker|scripts)/[a-z./-]+`).FindAllString(step.Run, -1) {
					if _, err := os.Stat("../" + path); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
	}
}

// TestComposeWorkflow checks that the workflow walks through the whole compose form without an
// .env.
func TestComposeWorkflow(t *testing.T) {
	all, _ := workflows(t)
	text := all["compose.yml"].Jobs["compose"].text()
	for _, want := range []string{
		"test ! -e .env", "docker compose up --build --detach --wait", "make test-stack", "test:e2e", "transfer export",
		"transfer import", "docker/backup.sh", "docker/restore.sh", "docker/upgrade.sh", "--profile pooler",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("compose.yml does not run %s", want)
		}
	}
	setup := func(step string) int {
		return slices.IndexFunc(all["compose.yml"].Jobs["compose"].Steps,
			func(s struct{ Name, Uses, Run string }) bool {
				return strings.Contains(s.Run+s.Uses, step)
			})
	}
	if up := setup("docker compose up"); up > setup("actions/setup-node") || up > setup("actions/setup-go") {
		t.Error("docker compose up runs after Node or Go are installed")
	}
}

// TestRehearsalHasOwnPorts checks that the project beside the running one publishes each of its
// ports elsewhere.
func TestRehearsalHasOwnPorts(t *testing.T) {
	all, _ := workflows(t)
	text := all["compose.yml"].Jobs["compose"].text()
	line := regexp.MustCompile(`(?m)^export COMPOSE_PROJECT_NAME=rehearsal (.*)$`).FindStringSubmatch(text)
	if line == nil {
		t.Fatal("compose.yml does not start a second project")
	}
	first := local(t)
	c := newClone(t, "")
	c.vars = strings.Fields(line[1])
	second, err := c.load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, service := range second.Services {
		for i, port := range service.Ports {
			if port.Published == first.Services[name].Ports[i].Published {
				t.Errorf("both projects publish %s of %s", port.Published, name)
			}
		}
	}
}

// TestReleaseWorkflow checks that nothing is published before the tests and the module path, that
// no image is emulated, and that a prerelease does not move the tags that people follow.
func TestReleaseWorkflow(t *testing.T) {
	all, texts := workflows(t)
	release := all["release.yml"]
	test := release.Jobs["test"].text()
	for _, want := range []string{"make check", "make test", "go list -m", "scripts/module-path.sh"} {
		if !strings.Contains(test, want) {
			t.Errorf("the tests of a release do not run %s", want)
		}
	}
	for name, job := range release.Jobs {
		if name != "test" && job.Needs != "test" {
			t.Errorf("job %s does not wait for the tests", name)
		}
	}
	for job, want := range map[string]string{"archives": "*-*) flags+=(--prerelease --latest=false)",
		"images": `*-*) ;; *) tags+=(--tag "$image:$MOVING")`} {
		if !strings.Contains(release.Jobs[job].text(), want) {
			t.Errorf("job %s treats a prerelease as a release", job)
		}
	}
	if strings.Contains(texts["release.yml"], "qemu") {
		t.Error("an image is built by emulation")
	}
	stages := regexp.MustCompile(`(?m)^FROM (.*)$`).Split(readFile(t, "Dockerfile"), -1)
	lines := regexp.MustCompile(`(?m)^FROM (.*)$`).FindAllStringSubmatch(readFile(t, "Dockerfile"), -1)
	native := map[string]bool{}
	for i, line := range lines {
		words := strings.Fields(line[1])
		name := words[len(words)-1]
		native[name] = words[0] == "--platform=$BUILDPLATFORM" || native[words[0]]
		if strings.Contains(stages[i+1], "\nRUN ") && !native[name] {
			t.Errorf("stage %s runs commands of the target's platform", name)
		}
	}
	for _, target := range []string{"target: daawo ", "target: embedded "} {
		if !strings.Contains(texts["release.yml"], target) {
			t.Errorf("release.yml does not build %s", target)
		}
	}
}
