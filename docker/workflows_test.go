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
	Jobs map[string]struct {
		Steps []struct{ Name, Uses, Run string }
	}
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

// TestWorkflowsArePortable checks that the workflows run in every clone: they name no account, no secret but the run's own
// token, no runner but the public ones, and actions of few publishers, each with a version.
func TestWorkflowsArePortable(t *testing.T) {
	all, texts := workflows(t)
	for _, name := range []string{"compose.yml", "release.yml", "test.yml"} {
		if _, ok := all[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	action := regexp.MustCompile(`^(actions|docker|anchore)/[a-z-]+@v[0-9]+$`)
	for name, w := range all {
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
		for job, j := range w.Jobs {
			for _, step := range j.Steps {
				if step.Uses != "" && !action.MatchString(step.Uses) {
					t.Errorf("%s, job %s uses %s", name, job, step.Uses)
				}
			}
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

// TestComposeWorkflow checks that the workflow walks through the whole compose form without an .env.
func TestComposeWorkflow(t *testing.T) {
	all, _ := workflows(t)
	var runs []string
	for _, step := range all["compose.yml"].Jobs["compose"].Steps {
		runs = append(runs, step.Run)
	}
	text := strings.Join(runs, "\n")
	for _, want := range []string{
		"test ! -e .env", "docker compose up --detach --wait", "make test-stack", "test:e2e", "transfer export", "transfer import", "docker/backup.sh",
		"docker/restore.sh", "docker/upgrade.sh", "--profile pooler",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("compose.yml does not run %s", want)
		}
	}
	setup := func(step string) int {
		return slices.IndexFunc(all["compose.yml"].Jobs["compose"].Steps, func(s struct{ Name, Uses, Run string }) bool {
			return strings.Contains(s.Run+s.Uses, step)
		})
	}
	if up := setup("docker compose up"); up > setup("actions/setup-node") || up > setup("actions/setup-go") {
		t.Error("docker compose up runs after Node or Go are installed")
	}
}
