package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the operating-system user Postgres runs as. Postgres refuses to run
// as root, so root needs another user.
type owner struct {
	name     string
	uid, gid uint32
	other    bool // not the user we run as
}

func findOwner(o Options) (owner, error) {
	if uid := os.Geteuid(); uid != 0 {
		u, err := user.LookupId(strconv.Itoa(uid))
		if err != nil {
			return owner{}, fmt.Errorf("user id %d has no name, and Postgres needs one: add it to /etc/passwd: %w", uid,
				err)
		}
		return owner{name: u.Username, uid: uint32(uid), gid: uint32(os.Getegid())}, nil
	}
	candidates := []string{"daawo", "postgres", "nobody"}
	if o.User != "" {
		candidates = []string{o.User}
	} else if info, err := os.Stat(o.Data); err == nil {
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 {
			if u, err := user.LookupId(strconv.Itoa(int(st.Uid))); err == nil {
				candidates = []string{u.Username}
			}
		}
	}
	for _, name := range candidates {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if errors.Join(err1, err2) == nil && uid != 0 {
			return owner{name: name, uid: uint32(uid), gid: uint32(gid), other: true}, nil
		}
	}
	return owner{}, fmt.Errorf("postgres refuses to run as root, and none of the users %v exists: create one, for "+
		"example with `useradd --system daawo`", candidates)
}

func (w owner) credential() *syscall.Credential {
	if !w.other {
		return nil
	}
	return &syscall.Credential{Uid: w.uid, Gid: w.gid}
}

// Credential returns the user that runs Postgres on the cluster at data, for other programs of the
// installation. It returns nil unless this process runs as root.
func Credential(data string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	w, err := findOwner(Options{Data: data}.withDefaults())
	if err != nil {
		return nil, err
	}
	return w.credential(), nil
}

// chown makes the owner the owner of a file or folder.
func (w owner) chown(name string) error {
	if !w.other {
		return nil
	}
	return os.Lchown(name, int(w.uid), int(w.gid))
}

// CheckTraversable returns an error if the user that would run a cluster at dir
// may not enter an existing folder above dir. The error names that folder.
func CheckTraversable(dir string) error {
	o := Options{Data: dir}.withDefaults()
	w, err := findOwner(o)
	if err != nil {
		return err
	}
	return w.canReach(o.Data)
}

// ChownTree sets the mode of dir to 0700. It gives dir and its content to the
// user that will run Postgres on the cluster at data.
func ChownTree(data, dir string) error {
	w, err := findOwner(Options{Data: data}.withDefaults())
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil || !w.other {
		return err
	}
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return w.chown(name)
	})
}

func (w owner) canReach(dir string) error {
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && !w.mayEnter(info) {
			return userErrorf(ErrNotTraversable,
				"Postgres runs as user %s, which may not enter %s (mode %04o): choose another data folder, such as "+
					"/var/lib/daawo, or run `chmod o+x %s`",
				w.name, at, info.Mode().Perm(), at)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return userErrorf(ErrNotTraversable, "%s cannot be entered: %v", at, err)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func (w owner) mayEnter(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !w.other {
		return true // our own user: the kernel checks at the first access
	}
	switch {
	case st.Uid == w.uid:
		return info.Mode()&0o100 != 0
	case st.Gid == w.gid:
		return info.Mode()&0o010 != 0
	}
	return info.Mode()&0o001 != 0
}

func uidString() string { return strconv.Itoa(os.Geteuid()) }
