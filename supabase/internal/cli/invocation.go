package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/observe"
)

// Invocation is one run of a command.
type Invocation struct {
	*Env
	command Command
	flags   *flag.FlagSet
	args    []string // before parse all arguments, after it those that are not flags

	data      string     // --data
	workdir   string     // --workdir
	yes       bool       // --yes of the official CLI: every question is answered with yes
	selected  *selection // of project; nil before
	activity  *activity  // nil without a line that shows the progress
	overrides []func(*config.Config)
}

// parse reads the flags that the command has declared. It returns a usage error unless least to
// most other arguments follow.
func (inv *Invocation) parse(least, most int) error {
	inv.officialFlags()
	err := inv.flags.Parse(inv.args)
	if errors.Is(err, flag.ErrHelp) {
		if inv.onHelp != nil {
			inv.onHelp(inv)
		} else {
			help(inv)
		}
		return err
	}
	if err != nil {
		return usagef("%s; see `daawo %s --help`", flagProblem(inv.flags, err.Error()), inv.command.Name)
	}
	inv.args = inv.flags.Args()
	return inv.count(least, most)
}

// invalidFlag matches an error of package flag about the value of a flag.
var invalidFlag = regexp.MustCompile(`^invalid (?:boolean )?(?:value (".*") for (?:flag )?-|flag )([\w-]+): (.*)$`)

// flagProblem returns an error of package flag in the words of this program: with flags as they are
// written, and with the nearest one for an unknown flag.
func flagProblem(flags *flag.FlagSet, text string) string {
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		var names []string
		flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		text = "unknown flag " + dashed(name)
		if near := config.Nearest(name, names); near != "" {
			text += fmt.Sprintf(" (did you mean %s?)", dashed(near))
		}
		return text
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return dashed(name) + " needs a value"
	}
	if m := invalidFlag.FindStringSubmatch(text); m != nil {
		if m[3] == "parse error" {
			m[3] = "is not valid"
		}
		switch {
		case strings.HasPrefix(m[3], "--"):
			return m[3]
		case strings.HasPrefix(m[3], m[1]):
			return dashed(m[2]) + ": " + m[3]
		}
		return fmt.Sprintf("%s: %s: %s", dashed(m[2]), m[1], m[3])
	}
	return text
}

// count returns a usage error unless there are least to most arguments.
func (inv *Invocation) count(least, most int) error {
	switch n := len(inv.args); {
	case n < least:
		return inv.usage()
	case n > most:
		return usagef("unexpected argument %q; usage: daawo %s %s", inv.args[most], inv.command.Name, inv.command.Args)
	}
	return nil
}

// parseMixed is parse for commands that allow arguments and flags in any order.
func (inv *Invocation) parseMixed(least, most int) error {
	var words []string
	for {
		for len(inv.args) > 0 && (inv.args[0] == "-" || !strings.HasPrefix(inv.args[0], "-")) {
			words = append(words, inv.args[0])
			inv.args = inv.args[1:]
		}
		if len(inv.args) == 0 {
			break
		}
		if err := inv.parse(0, math.MaxInt); err != nil {
			return err
		}
	}
	inv.args = words
	return inv.count(least, most)
}

// usage returns a usage error that shows the arguments of the command.
func (inv *Invocation) usage() error {
	return usagef("usage: daawo %s %s", inv.command.Name, inv.command.Args)
}

// warn prints a message to the standard error, after the name of the program.
func (inv *Invocation) warn(format string, args ...any) {
	fmt.Fprintf(inv.Stderr, "%s: %s\n", inv.Name, inv.named(fmt.Sprintf(format, args...)))
}

// dataFlag declares --data.
func (inv *Invocation) dataFlag() {
	inv.flags.StringVar(&inv.data, "data", "", "data `folder` (environment: DAAWO_DATA; default .daawo)")
}

// config loads the configuration that the command line selects.
func (inv *Invocation) config() (*config.Config, error) {
	project, err := inv.project()
	if err != nil {
		return nil, err
	}
	s := config.Sources{
		Name: "config.toml", Dir: project.dir, ProjectID: project.projectName(), Getenv: inv.Getenv,
		Program: inv.Settings, Overrides: inv.overrides,
	}
	text, err := fs.ReadFile(project.files, "config.toml")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(project.dir, err)
	}
	if err == nil {
		s.File = text
	}
	if project.dir != "" {
		s.Name = filepath.Join(project.dir, "config.toml")
		if s.Expand, err = envFiles(inv, project); err != nil {
			return nil, err
		}
	}
	if inv.data != "" {
		s.Overrides = append(s.Overrides, func(c *config.Config) { c.Data = inv.data })
	}
	return config.Load(s)
}

// dataDir returns the data folder that the command line selects.
func dataDir(inv *Invocation, c *config.Config) (string, error) {
	_, set := inv.Getenv("DAAWO_DATA")
	project, err := inv.project()
	if err != nil {
		return "", err
	}
	data, chosen := c.Data, inv.data != "" || set
	if inv.workdir != "" && !chosen && !filepath.IsAbs(data) {
		data = filepath.Join(inv.workdir, data) // two projects must not share a database
	}
	dir, why, err := datadir.Resolve(data, chosen, project.projectName())
	if _, missing := os.Stat(dir); why != "" && missing != nil && c.DatabaseURL == "" {
		inv.log(c).Info("data folder", "path", dir, "reason", why)
	}
	return dir, err
}

// installation returns the configuration and the data folder that the command line selects.
func (inv *Invocation) installation() (*config.Config, string, error) {
	c, err := inv.config()
	if err != nil {
		return nil, "", err
	}
	data, err := dataDir(inv, c)
	return c, data, err
}

// ask sends a command to the server that runs on the selected data folder and decodes its reply.
func (inv *Invocation) ask(ctx context.Context, command string, reply any) error {
	_, data, err := inv.installation()
	if err != nil {
		return err
	}
	return control.Command(ctx, data, command, reply)
}

// status returns the addresses and keys of the running server.
func (inv *Invocation) status(ctx context.Context) (app.Info, error) {
	var info app.Info
	err := inv.ask(ctx, "/status", &info)
	return info, err
}

func (inv *Invocation) log(c *config.Config) *slog.Logger {
	w := inv.Stderr
	if inv.activity != nil {
		w = inv.activity
	}
	if c.LogFormat != "" || !isTerminal(inv.Stderr) {
		return observe.Logger(w, c.LogLevel, c.LogFormat)
	}
	h := consoleHandler{w: w, mu: new(sync.Mutex), colours: coloursOf(inv.Stderr, inv.Getenv)}
	if err := h.level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		h.level = slog.LevelInfo
	}
	return slog.New(h)
}
