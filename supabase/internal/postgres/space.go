package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A disk that is really full stops Postgres altogether, reads too, as it cannot
// write its log. So a little room is kept: below it the cluster takes no more
// writes (SQLSTATE 25006) until there is twice as much again. Who frees space by
// deleting rows says `set default_transaction_read_only = off` first.
const (
	leastRoom  = 32 << 20 // bytes
	mostRoom   = 256 << 20
	roomShare  = 50 // of the disk: a fiftieth, within these bounds
	spacePause = 250 * time.Millisecond
)

// keptRoom is how much of a disk is kept free, in bytes.
func keptRoom(total uint64) uint64 {
	return min(max(total/roomShare, leastRoom), mostRoom)
}

// SpareRoom is how many bytes may be written to the disk that holds dir, a
// folder, before a cluster there would take no more writes.
func SpareRoom(dir string) (int64, error) {
	free, kept, err := room(dir)
	return max(0, free-kept), err
}

// room is what of the disk that holds dir is free, and what is kept free.
func room(dir string) (free, kept int64, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	block := uint64(disk.Bsize)
	return int64(disk.Bavail * block), int64(keptRoom(disk.Blocks * block)), nil
}

// shortOfSpace reports whether the disk of the data folder has too little room;
// was is the answer of the last time.
func (s *Server) shortOfSpace(was bool) bool {
	free, kept, err := room(s.opt.Data)
	if err != nil {
		return was
	}
	if was {
		kept *= 2
	}
	return free < kept
}

// watchSpace refuses writes while the disk has too little room.
func (s *Server) watchSpace() {
	tick := time.NewTicker(spacePause)
	defer tick.Stop()
	for {
		select {
		case <-s.stopping:
			return
		case <-tick.C:
		}
		was := s.readOnly.Load()
		short := s.shortOfSpace(was)
		if short == was {
			continue
		}
		if err := s.writeSpace(short); err != nil {
			s.opt.Log.Error("the disk's fill cannot be acted on", "error", err)
			continue // tried again at the next tick
		}
		s.readOnly.Store(short)
		if f, err := readPidFile(s.opt.Data); err == nil && f.pid > 0 {
			syscall.Kill(f.pid, syscall.SIGHUP)
		}
		if short {
			s.opt.Log.Error("the disk is nearly full: the database takes no writes until there is room again", "folder", s.opt.Data)
		} else {
			s.opt.Log.Info("there is room on the disk again: the database takes writes")
		}
	}
}

// writeSpace says in the configuration whether writes are refused. It writes
// over what is there, in the same length: a full disk has no room for a new file.
func (s *Server) writeSpace(readOnly bool) error {
	value := "off"
	if readOnly {
		value = "on "
	}
	name := filepath.Join(s.opt.Data, spaceFile)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteAt([]byte("default_transaction_read_only = "+value+"\n"), 0)
		err = errors.Join(err, f.Close(), s.owner.own(name))
	}
	if err != nil {
		return explain("write "+name, s.opt, err)
	}
	return nil
}
