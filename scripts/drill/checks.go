package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// Drills that run tests of the module, because they need the internals of a package or a fake
// clock.

// checks are tests by a pattern, in packages below supabase.
type checks struct {
	pattern  string
	packages []string
}

var (
	accessChecks = checks{"TestSQLAccess|TestExposed|TestFunctionsForAnon|TestRESTAccess", []string{"acceptance"}}

	// Tokens and consent (Attacks, TestCheck), names of files (TestHostileNames,
	// TestSymbolicLinks), pictures (Bombs, TestUploadedMarkup), paths, hosts and redirects
	// (TestPathNormalisation, TestForwardedHeaders, TestVerifyRedirects, TestAllows), framing and
	// headers (TestAttacks of acceptance) and the limits.
	attackChecks = checks{"Attacks$|^TestCheck$|Bombs|^TestHostileNames$|^TestSymbolicLinks$|^TestUploadedMarkup$|^TestPathNormalisation$|" +
		"^TestForwardedHeaders$|^TestVerifyRedirects$|^TestAllows$|^TestPanicReply$|^TestBodyLimit$|^TestHeaderLimits$|" +
		"^TestRateLimit$|^TestSlow|^TestStalledReader$",
		[]string{
			"acceptance", "internal/app", "internal/app/front", "internal/engine/auth", "internal/engine/auth/redirect",
			"internal/gateway", "internal/base/photo", "internal/engine/rest/token", "internal/engine/storage",
		}}

	clockChecks = checks{"Clock", []string{"acceptance", "internal/database/backup/physical",
		"internal/functions/host", "internal/functions/jobs"}}
	migrationChecks = checks{
		"TestConnectionLossAtAnyMessage|TestUpgradeFromFirstRelease|TestUpgrade$",
		[]string{"acceptance", "internal/database/migrate", "internal/app"},
	}
)

func accessDrill(ctx context.Context, _ settings) (string, error)  { return accessChecks.run(ctx) }
func attacksDrill(ctx context.Context, _ settings) (string, error) { return attackChecks.run(ctx) }
func clockDrill(ctx context.Context, _ settings) (string, error)   { return clockChecks.run(ctx) }
func migrateDrill(ctx context.Context, _ settings) (string, error) { return migrationChecks.run(ctx) }

// run runs the tests and counts them.
func (c checks) run(ctx context.Context) (string, error) {
	args := []string{"test", "-count=1", "-json", "-run", c.pattern}
	for _, p := range c.packages {
		args = append(args, below+p)
	}
	out, err := goCommand(ctx, args...)
	figures, broken := c.counted(out)
	if broken != nil {
		return figures, fmt.Errorf("%w (go %s)", errors.Join(broken, err), strings.Join(args, " "))
	}
	return figures, err
}

const below = "./supabase/"

// counted reads the output of go test -json. It is also an error if no test passed in a package or
// for an alternative of the pattern, because the drill would then check less than it claims.
func (c checks) counted(out []byte) (string, error) {
	passed, names := map[string]int{}, map[string]bool{}
	var failed, missing []string
	var output strings.Builder
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct{ Action, Package, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			output.WriteString(lines.Text() + "\n")
			continue
		}
		_, in, _ := strings.Cut(event.Package, below[1:])
		name, _, _ := strings.Cut(event.Test, "/")
		switch {
		case event.Action == "pass" && name != "":
			passed[in]++
			names[name] = true
		case event.Action == "fail" && name != "":
			failed = append(failed, in+" "+event.Test)
		case event.Action == "fail":
			failed = append(failed, in)
		case event.Action == "build-output":
			output.WriteString(event.Output)
		}
	}
	all, parts := 0, []string{}
	for _, p := range c.packages {
		all += passed[p]
		parts = append(parts, fmt.Sprintf("%s %d", p, passed[p]))
		if passed[p] == 0 {
			missing = append(missing, "package "+p)
		}
	}
	for one := range strings.SplitSeq(c.pattern, "|") {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(names)), regexp.MustCompile(one).MatchString) {
			missing = append(missing, one)
		}
	}
	figures := fmt.Sprintf("%d tests passed (%s), %d failed", all, strings.Join(parts, ", "), len(failed))
	switch {
	case len(failed) > 0:
		return figures, fmt.Errorf("failed: %s\n%s", strings.Join(failed, ", "), output.String())
	case lines.Err() != nil:
		return figures, lines.Err()
	case len(missing) > 0:
		return figures, fmt.Errorf("no test passed for %s: update the drill's pattern or packages",
			strings.Join(missing, ", "))
	}
	return figures, nil
}

// goCommand runs the go command in the module and returns its output.
func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		if text, rerr := io.ReadAll(io.LimitReader(&errs, 4000)); rerr == nil && len(text) > 0 {
			err = fmt.Errorf("%w: %s", err, text)
		}
	}
	return out, err
}
