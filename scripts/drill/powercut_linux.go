package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/scripts/server"

	"golang.org/x/sys/unix"
)

// diskImage is a file system in a file, on which a power cut can be played: all that the kernel has
// not written to the image is lost.
type diskImage struct {
	file string
	dir  string // where it is mounted
	mode string // mount options
}

// powercutDrill cuts the power of the disk while reports and photos arrive: the processes are
// killed, and the disk comes back without what only the kernel's cache had.
func powercutDrill(ctx context.Context, s settings) (string, error) {
	if os.Getuid() != 0 {
		return "", fmt.Errorf("%w: needs root to mount a file system", errNotRun)
	}
	var all []string
	for _, kind := range [][]string{
		{"mkfs.ext4", "-q", "loop,noauto_da_alloc,data=writeback"},
		{"mkfs.xfs", "-q", "loop,nouuid"},
	} {
		if _, err := exec.LookPath(kind[0]); err != nil {
			continue
		}
		figures, err := cutPower(ctx, s, kind)
		all = append(all, strings.TrimPrefix(kind[0], "mkfs.")+": "+figures)
		if err != nil {
			return strings.Join(all, "; "), err
		}
	}
	if len(all) == 0 {
		return "", fmt.Errorf("%w: needs mkfs.ext4 or mkfs.xfs", errNotRun)
	}
	return strings.Join(all, "; "), nil
}

// cutPower runs the rounds on one kind of file system.
func cutPower(ctx context.Context, s settings, kind []string) (string, error) {
	disk, err := newImage(ctx, kind)
	if err != nil {
		return "", err
	}
	defer disk.remove()
	st, err := server.NewIn(ctx, disk.dir, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()

	h, kept := &history{}, map[string]bool{}
	control, gone := filepath.Join(disk.dir, "control"), 0
	random := rand.New(rand.NewPCG(uint64(s.seed), 2))
	rounds := s.rounds(s.kills/4, 2)
	for round := range rounds {
		writing, stop := context.WithCancel(ctx)
		var writers sync.WaitGroup
		for w := range 8 {
			writers.Go(func() { write(writing, st, h, fmt.Sprintf("cut-%d-%d-%d", s.seed, round, w)) })
		}
		writers.Go(func() { keepPhotos(writing, st, kept) })
		pause(ctx, 100*time.Millisecond+time.Duration(random.IntN(3000))*time.Millisecond)
		processes, err := postgres(st)
		err = errors.Join(err, os.WriteFile(control, []byte("not synced"), 0o600))
		if err != nil {
			stop()
			writers.Wait()
			return "", err
		}
		st.KillServer()
		for _, pid := range processes {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		err = disk.cut(ctx)
		if text, _ := os.ReadFile(control); len(text) == 0 {
			gone++
		}
		stop()
		writers.Wait()
		if err == nil {
			err = st.Start(ctx)
		}
		if err != nil {
			return fmt.Sprintf("round %d of %d", round+1, rounds), err
		}
		for name := range kept {
			a := call{path: photoPath + name, key: st.Get("SERVICE_ROLE_KEY")}.send(ctx, st)
			if !bytes.Equal(a.body, photo()) {
				return "", fmt.Errorf("round %d: the acknowledged photo %s got %d: %s", round+1, name, a.status, a.body)
			}
		}
	}
	figures, err := h.check(ctx, st)
	if err == nil && gone == 0 {
		err = errors.New("each file that was not synced is there: the drill is inconclusive")
	}
	return fmt.Sprintf("%d cuts (%d lost what was not synced), %s, %d photos", rounds, gone, figures, len(kept)), err
}

// postgres returns the postmaster and its children. Without the postmaster a child could wait
// forever for another one that the dead disk has ended.
func postgres(st *server.Stack) ([]int, error) {
	postmaster, err := st.Postmaster()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", postmaster, postmaster))
	all := []int{postmaster}
	for _, child := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(child)
		all = append(all, pid)
	}
	return all, err
}

// keepPhotos uploads photos until ctx ends, and notes in kept those that were acknowledged.
func keepPhotos(ctx context.Context, st *server.Stack, kept map[string]bool) {
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("%d.jpg", time.Now().UnixMilli()+int64(n))
		a := call{path: photoPath + name, method: http.MethodPost, key: st.Get("ANON_KEY"), from: addressOf(name),
			kind: "image/jpeg", body: photo()}.send(ctx, st)
		if a.status == http.StatusOK {
			kept[name] = true
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// newImage makes a file system in a file and mounts it.
func newImage(ctx context.Context, kind []string) (*diskImage, error) {
	parent, err := os.MkdirTemp("", "daawo-powercut-")
	if err != nil {
		return nil, err
	}
	d := &diskImage{file: filepath.Join(parent, "image"), dir: filepath.Join(parent, "disk"), mode: kind[len(kind)-1]}
	err = errors.Join(os.WriteFile(d.file, nil, 0o600), os.Truncate(d.file, 640<<20), os.Mkdir(d.dir, 0o755),
		os.Chmod(parent, 0o755))
	if err == nil {
		err = command(ctx, kind[0], append(kind[1:len(kind)-1:len(kind)-1], d.file)...)
	}
	if err == nil {
		err = d.mount(ctx)
	}
	if err != nil {
		d.remove()
	}
	return d, err
}

func (d *diskImage) mount(ctx context.Context) error {
	return errors.Join(command(ctx, "mount", "-o", d.mode, d.file, d.dir), os.Chmod(d.dir, 0o755))
}

// shutdown is FS_IOC_SHUTDOWN of ext4 and XFS. Its mode noFlush drops also the part of the journal
// that is in memory.
const (
	shutdown = 0x8004587d
	noFlush  = 2
)

// cut ends the file system without another write to the disk, and mounts a copy of the disk: other
// mount namespaces may hold the one that was ended.
func (d *diskImage) cut(ctx context.Context) error {
	f, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	err = unix.IoctlSetPointerInt(int(f.Fd()), shutdown, noFlush)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := command(ctx, "cp", "--sparse=always", d.file, d.file+".cut"); err != nil {
		return err
	}
	return errors.Join(syscall.Unmount(d.dir, syscall.MNT_DETACH), os.Rename(d.file+".cut", d.file), d.mount(ctx))
}

func (d *diskImage) remove() {
	_ = syscall.Unmount(d.dir, syscall.MNT_DETACH)
	_ = os.RemoveAll(filepath.Dir(d.file))
}

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}
