package docker_test

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// imageUser is the user id in our image.
const imageUser = 65532

// inside returns attributes that run a process in the image's root file system as the image's user.
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
		e.t.Logf("running outside the image: chroot is not permitted (%v)", err)
		return &syscall.SysProcAttr{}
	}
	_ = try.Wait() // only the start matters
	return attr
}

// contentType is the extended attribute in which storage-api keeps a file's content type.
const contentType = "user.supabase.content-type"

// setAttribute sets the attribute. It returns false if the file system has no extended attributes.
func setAttribute(t *testing.T, name, value string) bool {
	t.Helper()
	err := syscall.Setxattr(name, contentType, []byte(value), 0)
	if err != nil && !errors.Is(err, syscall.ENOTSUP) {
		t.Fatal(err)
	}
	return err == nil
}

func attribute(t *testing.T, name string) string {
	t.Helper()
	value := make([]byte, 100)
	n, err := syscall.Getxattr(name, contentType, value)
	if err != nil {
		t.Fatal(err)
	}
	return string(value[:n])
}
