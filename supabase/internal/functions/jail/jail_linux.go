package jail

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// Check returns the protections of this system.
func Check() Report {
	_, files := landlockVersion()
	_, limits := findHierarchy()
	return Report{Files: files, Calls: seccompMissing(), User: ownUser(), Limits: limits}
}

// Start starts the program under the policy, as far as the kernel can enforce it. What fails after
// the fork is printed to the program's standard error.
func (c *Cell) Start(p Policy) (err error) {
	if c.group, err = newCgroup(p); err != nil {
		return err
	}
	return c.start(p)
}

// start starts the program in the group of the cell.
func (c *Cell) start(p Policy) error {
	cmd, user := c.Cmd, userOf(p)
	// The path may lead through folders that the program's user may not enter. The file is checked
	// by itself if it is opened before.
	program, err := os.Open(p.Program)
	if err != nil {
		return err
	}
	defer program.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles, program)
	// The link gives the process the name of the program.
	path := filepath.Join(c.temp.Path, filepath.Base(p.Program))
	if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", 2+len(cmd.ExtraFiles)), path); err != nil {
		return err
	}
	if err := c.giveTo(user, p, program); err != nil {
		return err
	}
	l := launch{
		Policy: p, User: user, Folder: c.Folder, Path: path, Args: cmd.Args, Parent: os.Getpid(),
		Processes: c.group == nil && user != 0,
	}
	if c.group != nil {
		l.Group = c.group.path
	}
	return c.launch(l)
}

// giveTo gives the files that a program writes to its user, and lets that run the program. user is
// 0 for that of this process.
func (c *Cell) giveTo(user int, p Policy, program *os.File) error {
	if user == 0 {
		return nil
	}
	info, err := program.Stat()
	if err != nil {
		return err
	}
	if info.Mode()&0o005 != 0o005 {
		if err := program.Chmod(0o755); err != nil {
			return err
		}
	}
	for _, folder := range append([]string{c.Folder}, p.Write...) {
		if err := giveFolder(folder, user); err != nil {
			return err
		}
	}
	return nil
}

// giveFolder gives a folder with all its files to a user, if that has not been done before.
func giveFolder(folder string, user int) error {
	var info unix.Stat_t
	if err := unix.Stat(folder, &info); err != nil {
		return &os.PathError{Op: "stat", Path: folder, Err: err}
	}
	if int(info.Uid) == user {
		return nil
	}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		return os.Lchown(path, user, user)
	})
	if err != nil {
		return err
	}
	return os.Lchown(folder, user, user) // last: the next call finds it
}

// findHierarchy is divide for this process.
var findHierarchy = sync.OnceValues(func() (string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", errNoHierarchy
	}
	return divide("/sys/fs/cgroup", string(own))
})
