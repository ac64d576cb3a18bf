package jail

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tryVariable makes this test program try what it may not, with the facts that the variable names.
const tryVariable = "JAIL_TEST_FACTS"

// facts are what an attacker inside knows.
type facts struct {
	Secret, Folder, Socket, Abstract string
	Given                            string // a file that the policy lets it read; "" for none
	Server                           int
	SameUser                         bool // as the server
}

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(tryVariable); ok {
		var f facts
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		for name, try := range f.tries() {
			outcome := "done"
			if err := try(); err != nil {
				outcome = err.Error()
			}
			fmt.Printf("%s: %s\n", name, outcome)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// tries are what the program tries. Those whose name begins with "may" are allowed.
func tries(f facts) map[string]func() error {
	read := func(name string) func() error {
		return func() error { _, err := os.ReadFile(name); return err }
	}
	write := func(name string) func() error {
		return func() error { return os.WriteFile(name, []byte("x"), 0o600) }
	}
	dial := func(network, address string) func() error {
		return func() error {
			conn, err := net.Dial(network, address)
			if err == nil {
				err = conn.Close()
			}
			return err
		}
	}
	server := fmt.Sprint("/proc/", f.Server)
	return map[string]func() error{
		"read a secret":                 read(f.Secret),
		"list the data folder":          func() error { _, err := os.ReadDir(f.Folder); return err },
		"write beside the secret":       write(filepath.Join(f.Folder, "new")),
		"remove the secret":             func() error { return os.Remove(f.Secret) },
		"link the secret":               func() error { return os.Link(f.Secret, "link") },
		"read /etc/shadow":              read("/etc/shadow"),
		"write in /tmp":                 write("/tmp/jail-test-" + fmt.Sprint(os.Getpid())),
		"write in /usr":                 write("/usr/jail-test"),
		"server's variables":            read(server + "/environ"),
		"server's command line":         read(server + "/cmdline"),
		"server's memory":               read(server + "/mem"),
		"server's files":                func() error { _, err := os.ReadDir(server + "/fd"); return err },
		"trace the server":              call(unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(f.Server)),
		"signal the server":             func() error { return syscall.Kill(f.Server, 0) },
		"connect to a socket":           dial("unix", f.Socket),
		"connect to an abstract socket": dial("unix", f.Abstract),
		"listen on a port": func() error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				err = l.Close()
			}
			return err
		},
		"make a user namespace": call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		"clone a namespace":     call(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(syscall.SIGCHLD)),
		"mount":                 call(unix.SYS_MOUNT),
		"io_uring":              call(unix.SYS_IO_URING_SETUP, 1),
		"bpf":                   call(unix.SYS_BPF),
		"perf":                  call(unix.SYS_PERF_EVENT_OPEN),
		"keyring":               call(unix.SYS_KEYCTL),
		"another's memory":      call(unix.SYS_PROCESS_VM_READV, uintptr(f.Server)),
		"a file by its handle":  call(unix.SYS_OPEN_BY_HANDLE_AT),
		"a vsock":               call(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM),
		"become root":           call(unix.SYS_SETRESUID, 0, 0, 0),
		"a helper reads a secret": func() error {
			return exec.Command("/bin/sh", "-c", "cat "+f.Secret+" >/dev/null 2>&1").Run()
		},
		"a helper signals the server": func() error {
			return exec.Command("/bin/sh", "-c", fmt.Sprint("kill -0 ", f.Server, " 2>/dev/null")).Run()
		},
		"may write in its folder": write("file"),
		"may write in TMPDIR":     write(filepath.Join(os.TempDir(), "file2")),
		"may run a program":       func() error { return exec.Command("/bin/sh", "-c", "exit 0").Run() },
		"may read certificates' folder": func() error {
			_, err := os.ReadDir("/etc/ssl/certs")
			return err
		},
		"list the folder of private keys": func() error { _, err := os.ReadDir("/etc/ssl"); return err },
		"may make a TCP socket":           call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM),
	}
}

// call returns a system call as a try.
func call(number uintptr, args ...uintptr) func() error {
	args = append(args, 0, 0, 0)
	return func() error {
		if _, _, errno := unix.Syscall(number, args[0], args[1], args[2]); errno != 0 {
			return errno
		}
		return nil
	}
}

// limits are tries to change the server.
func limits(f facts) map[string]func() error {
	return map[string]func() error{
		"limit the server":               call(unix.SYS_PRLIMIT64, uintptr(f.Server), unix.RLIMIT_NOFILE),
		"choose the server's processors": call(unix.SYS_SCHED_SETAFFINITY, uintptr(f.Server), 0),
		"schedule the server":            call(unix.SYS_SCHED_SETSCHEDULER, uintptr(f.Server), 0),
		"slow down the server":           call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, uintptr(f.Server), 19),
		"slow down the user":             call(unix.SYS_SETPRIORITY, unix.PRIO_USER, 0, 0),
		"slow down the server's files":   call(unix.SYS_IOPRIO_SET, 1, uintptr(f.Server)),
		"move the server's memory":       call(unix.SYS_MOVE_PAGES, uintptr(f.Server)),
		"may limit itself":               func() error { return unix.Prlimit(0, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) },
		"may lower its own priority":     call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, 19),
	}
}

// tries adds to the others what concerns a program that listens and reads files of a project.
func (f facts) tries() map[string]func() error {
	all := tries(f)
	maps.Copy(all, limits(f))
	if f.Given == "" {
		return all
	}
	all["may listen on a Unix socket"] = func() error {
		l, err := net.Listen("unix", filepath.Join(os.TempDir(), "own"))
		if err == nil {
			err = l.Close()
		}
		return err
	}
	all["may read a file of the project"] = func() error { _, err := os.ReadFile(f.Given); return err }
	all["may find a file of the project"] = func() error { return unix.Access(f.Given, unix.R_OK) }
	all["write a file of the project"] = func() error { return os.WriteFile(f.Given, []byte("x"), 0o600) }
	if f.SameUser { // it has the rights of this process, as far as the kernel and Deno allow
		delete(all, "connect to a socket")
		delete(all, "become root")
	}
	return all
}

// TestJail starts this program in a jail, where it tries what a hostile function may try.
func TestJail(t *testing.T) {
	lacks := Check()
	t.Log(lacks.Lacks())
	if lacks.Files != nil || lacks.Calls != nil {
		t.Skip("this kernel has no jail:", lacks.Lacks())
	}
	folder := t.TempDir()
	f := facts{Secret: filepath.Join(folder, "secret"), Folder: folder, Socket: filepath.Join(folder, "socket"),
		Abstract: fmt.Sprint("@jail-test-", os.Getpid()), Server: os.Getpid()}
	if err := os.WriteFile(f.Secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for dir := folder; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil { // so that permissions alone do not refuse it
			t.Fatal(err)
		}
	}
	for _, name := range []string{f.Socket, f.Abstract} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	given := filepath.Join(t.TempDir(), "given")
	if err := os.WriteFile(given, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("of Go", func(t *testing.T) { check(t, Policy{Program: self}, f) })
	t.Run("of Deno", func(t *testing.T) {
		policy := Policy{Program: self, Listens: true, Bound: true, Read: []string{given}}
		f.Given, f.SameUser = given, userOf(policy) == 0
		check(t, policy, f)
	})
}

// check runs the program under a policy and checks the outcome of what it tries.
func check(t *testing.T, policy Policy, f facts) {
	t.Helper()
	printed := attempt(t, policy, f)
	seen := 0
	for line := range strings.Lines(printed) {
		name, outcome, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Errorf("printed %q", line)
			continue
		}
		seen++
		if strings.HasPrefix(name, "may ") != (outcome == "done") {
			t.Errorf("%s: %s", name, outcome)
		}
	}
	if want := len(f.tries()); seen != want {
		t.Errorf("%d tries instead of %d:\n%s", seen, want, printed)
	}
}

// attempt runs the program in a jail with the facts, and returns what it prints.
func attempt(t *testing.T, policy Policy, f facts) string {
	t.Helper()
	cell, err := Command(policy)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	cell.Cmd.Env = append(cell.Cmd.Env, tryVariable+"="+string(text), "SECRET=")
	output, err := os.Create(filepath.Join(f.Folder, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	cell.Cmd.Stdout, cell.Cmd.Stderr = output, output
	if err := cell.Start(policy); err != nil {
		t.Fatal(err)
	}
	if err := cell.Cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err := cell.Close(); err != nil {
		t.Error(err)
	}
	printed, err := os.ReadFile(output.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(printed)
}

// TestLowerLimits checks that a program starts where a lower hard limit is set, which only root may
// raise.
func TestLowerLimits(t *testing.T) {
	const variable = "JAIL_TEST_LIMITS"
	if os.Getenv(variable) != "" {
		policy := Policy{Program: "/bin/sh"}
		cell, err := Command(policy)
		if err != nil {
			t.Fatal(err)
		}
		cell.Cmd.Args = append(cell.Cmd.Args, "-c", "ulimit -n; ulimit -f")
		cell.Cmd.Stdout, cell.Cmd.Stderr = os.Stdout, os.Stderr
		if err := errors.Join(cell.Start(policy), cell.Cmd.Wait(), cell.Close()); err != nil {
			t.Fatal(err)
		}
		return
	}
	limited := exec.Command("/bin/sh", "-c", `ulimit -n 1000; ulimit -f 2000; exec "$0" -test.run='^TestLowerLimits$'`,
		os.Args[0])
	limited.Env = append(os.Environ(), variable+"=1")
	if output, err := limited.CombinedOutput(); err != nil || !strings.HasPrefix(string(output), "1000\n2000\n") {
		t.Errorf("%s %v", output, err)
	}
}

// TestThreadsKeepRights checks that only the started program loses rights, not this one.
func TestThreadsKeepRights(t *testing.T) {
	policy := Policy{Program: "/bin/true"}
	for range 20 {
		cell, err := Command(policy)
		if err != nil {
			t.Fatal(err)
		}
		if err := cell.Start(policy); err != nil {
			t.Fatal(err)
		}
		if err := cell.Cmd.Wait(); err != nil {
			t.Error(err)
		}
		if err := cell.Close(); err != nil {
			t.Error(err)
		}
	}
	for deadline := time.Now().Add(100 * time.Millisecond); time.Now().Before(deadline); {
		done := make(chan error)
		for range 8 {
			go func() {
				l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
				if err == nil {
					err = l.Close()
				}
				done <- err
			}()
		}
		for range 8 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestBoundProgramEnds checks that a program with Policy.Bound ends with the process that started
// it, and not before.
func TestBoundProgramEnds(t *testing.T) {
	if text, ok := os.LookupEnv(boundVariable); ok {
		policy := Policy{Program: "/bin/sleep", Listens: true, Bound: true, Read: []string{"/bin"}}
		cell, err := Command(policy)
		if err != nil {
			t.Fatal(err)
		}
		cell.Cmd.Args = append(cell.Cmd.Args, "600")
		if err := cell.Start(policy); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(text, fmt.Append(nil, cell.Cmd.Process.Pid), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
	}
	file := filepath.Join(t.TempDir(), "pid")
	parent := exec.Command(os.Args[0], "-test.run=^TestBoundProgramEnds$")
	parent.Env = append(os.Environ(), boundVariable+"="+file)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for deadline := time.Now().Add(time.Minute); pid == 0; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(file)
		if _, err := fmt.Sscan(string(text), &pid); err != nil && time.Now().After(deadline) {
			t.Fatal("the program does not start")
		}
	}
	comm := fmt.Sprintf("/proc/%d/comm", pid)
	name, err := os.ReadFile(comm)
	for deadline := time.Now().Add(time.Minute); string(name) == "exe\n" && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond) // until the launcher has become the program
		name, err = os.ReadFile(comm)
	}
	time.Sleep(100 * time.Millisecond) // threads of the parent come and go
	if string(name) != "sleep\n" || !runs(pid) {
		t.Errorf("the program has ended before its parent: %q %v", name, err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	for deadline := time.Now().Add(time.Minute); runs(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the program has not ended")
		}
	}
}

// boundVariable names a file for the number of the process that TestBoundProgramEnds starts.
const boundVariable = "JAIL_TEST_BOUND"

// runs reports whether a process has not ended, though its parent may not have waited for it.
func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// TestNice checks the priority of a program. It does not depend on that of this process.
func TestNice(t *testing.T) {
	policy := Policy{Program: "/bin/sh", Nice: 40}
	cell, err := Command(policy)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "output")
	if cell.Cmd.Stdout, err = os.Create(file); err != nil {
		t.Fatal(err)
	}
	cell.Cmd.Args = append(cell.Cmd.Args, "-c", "nice")
	err = cell.Start(policy)
	if err == nil {
		err = cell.Cmd.Wait()
	}
	if err := errors.Join(err, cell.Close()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "19\n" {
		t.Errorf("%q %v", text, err)
	}
}
