package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// builder builds stages, each in a folder of its name below dir.
type builder struct {
	context string // source folder
	ignored ignore
	dir     string
	modules string          // installed packages, used instead of npm ci
	partial map[string]bool // stages with a command that could not run here
}

func (b *builder) build(s *stage) error {
	root := filepath.Join(b.dir, s.name)
	if err := os.Mkdir(root, 0o755); err != nil {
		return err // an existing folder is not clean
	}
	s.config.Env, s.config.Workdir = map[string]string{}, "/"
	if s.local {
		if err := copyTree(filepath.Join(b.dir, s.base), root, true, nil); err != nil {
			return err
		}
		s.config.Workdir = "/src"
	}
	for _, in := range s.steps {
		if err := b.step(s, root, in); err != nil {
			return fmt.Errorf("line %d: %s %s: %w", in.line, in.name, in.rest, err)
		}
	}
	return nil
}

func (b *builder) step(s *stage, root string, in instruction) (err error) {
	c := &s.config
	switch in.name {
	case "WORKDIR":
		c.Workdir = in.rest
		return os.MkdirAll(filepath.Join(root, c.Workdir), 0o755)
	case "ARG", "ENV":
		name, value, _ := strings.Cut(in.rest, "=")
		c.Env[name] = value
	case "COPY":
		return b.copy(c, root, in)
	case "RUN":
		ran, err := b.command(c, root, in.rest)
		if !ran {
			b.partial[s.name] = true
		}
		return err
	case "USER":
		c.User = in.rest
	case "VOLUME":
		c.Volume = in.rest
	case "EXPOSE":
		c.Ports = strings.Fields(in.rest)
	case "ENTRYPOINT":
		c.Entrypoint, err = in.words()
	case "CMD":
		c.Cmd, err = in.words()
	case "HEALTHCHECK": // does not change the files
	default:
		err = errors.New("unsupported instruction")
	}
	return err
}

// copy implements COPY for files and for the contents of folders.
func (b *builder) copy(c *config, root string, in instruction) error {
	words := strings.Fields(in.rest)
	if len(words) < 2 {
		return errors.New("want a source and a target")
	}
	target := words[len(words)-1]
	into := strings.HasSuffix(target, "/") || target == "."
	if !path.IsAbs(target) {
		target = path.Join(c.Workdir, target)
	}
	from, hidden := b.context, b.ignored.hides
	if stage := in.flags["from"]; stage != "" {
		from, hidden = filepath.Join(b.dir, stage), nil
	}
	for _, source := range words[:len(words)-1] {
		at := filepath.Join(from, source)
		info, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) && b.partial[in.flags["from"]] {
			fmt.Printf("not copied: %s of stage %s\n", source, in.flags["from"])
			continue
		}
		if err != nil {
			return err
		}
		to := filepath.Join(root, target)
		if !info.IsDir() && into {
			to = filepath.Join(to, path.Base(source))
		}
		if hidden != nil && !info.IsDir() && hidden(path.Clean(source)) {
			return fmt.Errorf("%s is excluded by the ignore file", source)
		}
		if err := copyTree(at, to, hidden == nil && in.flags["chown"] == "", relative(hidden, source)); err != nil {
			return err
		}
		if mode := in.flags["chmod"]; mode != "" {
			bits, err := strconv.ParseUint(mode, 8, 32)
			if err := errors.Join(err, os.Chmod(to, fs.FileMode(bits))); err != nil {
				return err
			}
		}
		if owner := in.flags["chown"]; owner != "" {
			if err := chown(to, owner); err != nil {
				return err
			}
		}
	}
	return nil
}

// relative adapts a function of context paths to paths below a folder.
func relative(hidden func(string) bool, folder string) func(string) bool {
	if hidden == nil {
		return nil
	}
	return func(name string) bool { return hidden(path.Join(folder, filepath.ToSlash(name))) }
}

// chown changes the owner of a tree to numeric ids, if this user is root.
func chown(tree, owner string) error {
	uid, gid, _ := strings.Cut(owner, ":")
	u, err := strconv.Atoi(uid)
	g, err2 := strconv.Atoi(gid)
	if err := errors.Join(err, err2); err != nil || os.Geteuid() != 0 {
		return err
	}
	return filepath.WalkDir(tree, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, u, g))
	})
}

// command implements RUN, and reports whether it could run. Below a WORKDIR it runs a plain shell
// there, so paths must be relative. In the root folder it needs root and a copy-on-write view of
// the system.
func (b *builder) command(c *config, root, line string) (ran bool, err error) {
	if line == "npm ci" && b.modules != "" {
		return true, b.installed(filepath.Join(root, c.Workdir))
	}
	if c.Workdir == "/" {
		return inSystem(root, line)
	}
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "/") {
			return true, fmt.Errorf("%s is an absolute path, which would be on this machine: use a relative path", word)
		}
	}
	cmd := exec.Command("/bin/sh", "-euc", line)
	cmd.Dir = filepath.Join(root, c.Workdir)
	cmd.Env = os.Environ()
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return true, quietly(cmd)
}

// inSystem runs a command as root over a copy-on-write view of this machine and copies the changes
// to root.
func inSystem(root, line string) (ran bool, err error) {
	if os.Geteuid() != 0 {
		fmt.Printf("not run (needs root): %s\n", line)
		return false, nil
	}
	const script = `mount -t tmpfs tmpfs "$1" && mkdir "$1/work" "$1/system" "$1/upper" &&
		mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/system" &&
		chroot "$1/system" /bin/sh -euc "$3" && cp -a "$1/upper/." "$2"`
	view, err := os.MkdirTemp("", "image-")
	if err != nil {
		return false, err
	}
	defer os.Remove(view)
	if err := exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", view).Run(); err != nil {
		fmt.Printf("not run (mount not permitted): %s\n", line)
		return false, nil
	}
	return true, quietly(exec.Command("unshare", "--mount", "/bin/sh", "-euc", script, "sh", view, root, line))
}

// quietly runs a command. Its error includes the output.
func quietly(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// installed copies packages that were installed from the same lock file.
func (b *builder) installed(into string) error {
	for _, name := range []string{"node_modules", "web/node_modules"} {
		from := filepath.Join(b.modules, name)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		cache := func(name string) bool { return strings.HasPrefix(name, ".vite") }
		if err := copyTree(from, filepath.Join(into, name), true, cache); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a file or a folder. Hard links replace copies if links is set; they are unsafe
// for files that are changed in place, such as the sources.
func copyTree(from, to string, links bool, hidden func(string) bool) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if rel != "." && hidden != nil && hidden(rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type() == fs.ModeSymlink:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if links && os.Link(name, target) == nil {
			return nil
		}
		return copyFile(name, target)
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
