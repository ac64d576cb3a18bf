package server

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Linux schedules by session where it has autogroups, so all processes share the postmaster's. Each
// leads a process group, to which Postgres sends its signals.
func TestProcessesShareTheSession(t *testing.T) {
	s := start(t, options(t))
	session, err := unix.Getsid(s.child.pid)
	if err != nil {
		t.Fatal(err)
	}
	pids := query(t, s.URL(Superuser), `select string_agg(pid::text, ' ') from pg_stat_activity`)
	if len(strings.Fields(pids)) < 4 {
		t.Errorf("processes are %s", pids)
	}
	for _, text := range strings.Fields(pids) {
		pid, _ := strconv.Atoi(text)
		if pid != 0 && unix.Kill(pid, 0) != nil {
			continue // the connection of query, which has ended
		}
		got, err := unix.Getsid(pid)
		group, err2 := unix.Getpgid(pid)
		if err != nil || err2 != nil || got != session || group != pid {
			t.Errorf("process %d has session %d and group %d: %v, %v", pid, got, group, err, err2)
		}
	}
}

func TestCancelledWithoutASession(t *testing.T) {
	s := start(t, options(t))
	ended := make(chan error, 1)
	go func() {
		_, err := tryQuery(t.Context(), s.URL(Superuser), `select 'sleeper', pg_sleep(600)`)
		ended <- err
	}()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		sent := query(t, s.URL(Superuser), `select count(pg_cancel_backend(pid)) from pg_stat_activity
			where query like '%sleeper%' and pid <> pg_backend_pid()`)
		if sent == "1" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the statement did not begin")
		}
	}
	if err := <-ended; !strings.Contains(fmt.Sprint(err), "57014") {
		t.Errorf("got error %v", err)
	}
}

// The library of each kind of machine is a file that package elf reads.
func TestSessionLibrary(t *testing.T) {
	for machine, code := range sessionCode {
		f, err := elf.NewFile(bytes.NewReader(sessionBytes(machine)))
		if err != nil {
			t.Fatal(machine, err)
		}
		// Package elf finds no symbols without sections, so look at the bytes.
		text := make([]byte, len(code))
		if _, err := f.Progs[0].ReadAt(text, sessionText); err != nil || !bytes.Equal(text, code) || f.Machine != machine {
			t.Errorf("%v: got code % x, %v", f.Machine, text, err)
		}
		if len(code) > sessionHash-sessionText {
			t.Errorf("%v: the code has %d bytes", machine, len(code))
		}
	}
}
