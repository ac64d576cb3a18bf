package docker_test

import (
	"os"
	"os/exec"
	"syscall"
)

// imageUser is the user of our image.
const imageUser = 65532

// inside makes a process see the image as its root file system, as the image's user.
func (e emptyRoot) inside() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Chroot: e.dir}
	if os.Geteuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: imageUser, Gid: imageUser}
	} else {
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Getegid(), Size: 1}}
	}
	try := exec.Command("/daawo", "version")
	try.Env, try.SysProcAttr, try.Dir = []string{}, attr, "/"
	if err := try.Start(); err != nil {
		e.t.Logf("not in a root of its own: this machine grants none to this user (%v)", err)
		return &syscall.SysProcAttr{}
	}
	_ = try.Wait() // what it says is another command's matter
	return attr
}
