package server

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// On a full disk Postgres cannot write its log and stops serving, even reads.
// To avoid that, the cluster reserves some space. With less free space it
// refuses writes (SQLSTATE 25006) until twice the reserve is free. To free
// space by deleting rows, first run `set default_transaction_read_only = off`.
const (
	minReserve   = 32 << 20 // bytes
	maxReserve   = 256 << 20
	reserveShare = 50 // the reserve is 1/50 of the disk, within these bounds
)

// The pause between two checks. While much space is free, it is as long as a fast disk needs to
// fill that space.
const (
	spacePauseMin  = 250 * time.Millisecond
	spacePauseMax  = 5 * time.Second
	fastestWriting = 2 << 30 // bytes per second
)

// spacePause returns the pause before the next check with these bytes free and reserved.
func spacePause(free, reserved int64) time.Duration {
	full := time.Duration(float64(free-reserved) / fastestWriting * float64(time.Second))
	return min(max(full, spacePauseMin), spacePauseMax)
}

// reservedSpace returns the reserve for a disk of total bytes.
func reservedSpace(total uint64) uint64 {
	return min(max(total/reserveShare, minReserve), maxReserve)
}

// WritableSpace returns how many bytes can be written to the disk of folder dir
// before a cluster there refuses writes.
func WritableSpace(dir string) (int64, error) {
	free, reserved, err := diskSpace(dir)
	return max(0, free-reserved), err
}

// diskSpace returns the free and the reserved bytes of the disk that holds dir.
func diskSpace(dir string) (free, reserved int64, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	block := uint64(disk.Bsize)
	return int64(disk.Bavail * block), int64(reservedSpace(disk.Blocks * block)), nil
}

// lowOnSpace reports whether the data folder's disk has too little free space,
// and the pause before the next check. was is the previous result.
func (s *Server) lowOnSpace(was bool) (low bool, pause time.Duration) {
	free, reserved, err := diskSpace(s.opt.Data)
	if err != nil {
		return was, spacePauseMin
	}
	if was {
		return free < 2*reserved, spacePauseMin // writes are to work again soon
	}
	return free < reserved, spacePause(free, reserved)
}

// watchSpace makes the cluster read-only while the disk has too little free space.
func (s *Server) watchSpace() {
	next := time.NewTimer(spacePauseMin)
	defer next.Stop()
	for {
		select {
		case <-s.stopping:
			return
		case <-next.C:
		}
		was := s.readOnly.Load()
		short, pause := s.lowOnSpace(was)
		if short != was && !s.applySpace(short) {
			pause = spacePauseMin
		}
		next.Reset(pause)
	}
}

// applySpace makes the cluster read-only or writable. It reports whether that succeeded.
func (s *Server) applySpace(short bool) bool {
	if err := s.writeReadOnly(short); err != nil {
		s.opt.Log.Error("disk space change not applied; retrying", "error", err)
		return false
	}
	s.readOnly.Store(short)
	if f, err := readPidFile(s.opt.Data); err == nil && f.pid > 0 {
		syscall.Kill(f.pid, syscall.SIGHUP)
	}
	if short {
		s.opt.Log.Error("disk almost full; postgres refuses writes until space is free", "folder", s.opt.Data)
	} else {
		s.opt.Log.Info("disk space available again; postgres accepts writes")
	}
	return true
}

// writeReadOnly sets default_transaction_read_only in the configuration. It
// overwrites the file in place with the same length, because a full disk has no
// space for a new file.
func (s *Server) writeReadOnly(readOnly bool) error {
	value := "off"
	if readOnly {
		value = "on "
	}
	name := filepath.Join(s.opt.Data, spaceFile)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteAt([]byte("default_transaction_read_only = "+value+"\n"), 0)
		err = errors.Join(err, f.Close(), s.owner.chown(name))
	}
	if err != nil {
		return explain("write "+name, s.opt, err)
	}
	return nil
}
