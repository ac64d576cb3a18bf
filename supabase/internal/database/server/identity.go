package server

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"
)

// Positions in global/pg_control and in the first page of a log segment: ControlFileData of
// src/include/catalog/pg_control.h and XLogLongPageHeaderData of
// src/include/access/xlog_internal.h, Postgres 17. Both have the byte order of the machine.
const (
	controlState      = 16
	stateShutDown     = 1  // DB_SHUTDOWNED
	controlCheckpoint = 32 // position of the last checkpoint in the log
	controlTimeline   = 48 // of that checkpoint
	nonceSize         = 32 // MOCK_AUTH_NONCE_LEN; the nonce stands before the checksum
	segmentIdentifier = 24
	segmentSizeAt     = 32
)

// control is the content of global/pg_control.
type control struct {
	data     []byte
	checksum int // position
}

func controlFile(data string) string { return filepath.Join(data, "global", "pg_control") }

// readControl reads the control file of a stopped cluster. The position of the checksum is where
// the checksum of the bytes before stands.
func readControl(data string) (control, error) {
	raw, err := os.ReadFile(controlFile(data))
	if err != nil {
		return control{}, err
	}
	for at := controlTimeline + 4 + nonceSize; at+4 <= min(len(raw), 512); at += 4 {
		if binary.NativeEndian.Uint32(raw[at:]) == castagnoli(raw[:at]) {
			return control{raw, at}, nil
		}
	}
	return control{}, fmt.Errorf("%s has no valid checksum", controlFile(data))
}

func castagnoli(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// identifier returns the number that tells clusters apart.
func (c control) identifier() uint64 { return binary.NativeEndian.Uint64(c.data) }

// shutDown reports whether the server has stopped after a last checkpoint.
func (c control) shutDown() bool {
	return binary.NativeEndian.Uint32(c.data[controlState:]) == stateShutDown
}

// segment returns the name of the log segment, of 1 MiB, that has the last checkpoint.
func (c control) segment() string {
	const segmentSize, perFile = 1 << 20, 1 << 12 // segments in 4 GiB of log
	n := binary.NativeEndian.Uint64(c.data[controlCheckpoint:]) / segmentSize
	return fmt.Sprintf("%08X%08X%08X", binary.NativeEndian.Uint32(c.data[controlTimeline:]), n/perFile, n%perFile)
}

// renewIdentity gives the cluster of a stopped server an own identifier, as initdb makes it, and an
// own nonce, with which Postgres hides which roles exist.
func renewIdentity(data string) error {
	c, err := readControl(data)
	if err != nil {
		return err
	}
	old, now := c.identifier(), time.Now()
	id := uint64(now.Unix())<<32 | uint64(now.Nanosecond()/1000)<<12 | uint64(os.Getpid())&0xfff
	if err := renameSegment(filepath.Join(data, "pg_wal", c.segment()), old, id); err != nil {
		return err
	}
	binary.NativeEndian.PutUint64(c.data, id)
	rand.Read(c.data[c.checksum-nonceSize : c.checksum]) // never fails
	binary.NativeEndian.PutUint32(c.data[c.checksum:], castagnoli(c.data[:c.checksum]))
	return overwrite(controlFile(data), c.data, 0)
}

// renameSegment replaces the identifier of the cluster in a log segment.
func renameSegment(name string, old, id uint64) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	head := make([]byte, segmentSizeAt+4)
	_, err = f.ReadAt(head, 0)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if got := binary.NativeEndian.Uint64(head[segmentIdentifier:]); got != old {
		return fmt.Errorf("%s is of the cluster %d, not of %d", name, got, old)
	}
	return overwrite(name, binary.NativeEndian.AppendUint64(nil, id), segmentIdentifier)
}

// overwrite writes bytes into an existing file.
func overwrite(name string, data []byte, at int64) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	return errors.Join(err, f.Close())
}
