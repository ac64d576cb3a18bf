package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// prepare creates the node's namespace, its link to the bridge and its folders.
func (n *Node) prepare() error {
	outer, inner := n.link(), "eth0"
	err := errors.Join(
		ip("netns", "add", n.Name),
		ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", n.Name),
		ip("link", "set", outer, "master", bridge, "up"),
		ip("-n", n.Name, "addr", "add", n.Address+"/24", "dev", inner),
		ip("-n", n.Name, "link", "set", inner, "up"),
		ip("-n", n.Name, "link", "set", "lo", "up"),
	)
	for _, folder := range []string{"", "etcd", "sockets"} {
		path := filepath.Join(n.dir, folder)
		err = errors.Join(err, os.MkdirAll(path, 0o700), os.Chown(path, int(n.owner.Uid), int(n.owner.Gid)))
	}
	if err != nil {
		return err
	}
	return n.writeConfig()
}

func (n *Node) link() string { return linkOf(n.Name) }

func linkOf(name string) string { return "dwv" + name[len(name)-1:] }

// Cut takes the node's link down. Heal brings it up again.
func (n *Node) Cut() error { return ip("link", "set", n.link(), "down") }

// Heal brings the node's link up again.
func (n *Node) Heal() error { return ip("link", "set", n.link(), "up") }

// Isolate disconnects the node from the other two, but not from the servers. This is the worse
// case: the old primary could keep accepting writes. Rejoin ends it.
func (n *Node) Isolate() error { return n.blackhole("add") }

// Rejoin ends Isolate.
func (n *Node) Rejoin() error { return n.blackhole("del") }

func (n *Node) blackhole(what string) error {
	var errs []error
	for i := range nodes {
		if address := addressOf(i); address != n.Address {
			errs = append(errs, ip("-n", n.Name, "route", what, "blackhole", address+"/32"))
		}
	}
	return errors.Join(errs...)
}

// example is the configuration in docker/cluster. The drill tests this file.
const example = "docker/cluster/patroni.yml"

// sharedSockets is the line that three nodes on one host cannot share.
const sharedSockets = "unix_socket_directories: /var/run/postgresql"

func (n *Node) writeConfig() error {
	text, err := os.ReadFile(example)
	if err != nil {
		return fmt.Errorf("%w (run the drill at the top of the repository)", err)
	}
	own := strings.Replace(string(text), sharedSockets, "unix_socket_directories: "+n.sockets(), 1)
	if own == string(text) {
		return fmt.Errorf("%s has no line %q", example, sharedSockets)
	}
	name := filepath.Join(n.dir, "patroni.yml")
	return errors.Join(os.WriteFile(name, []byte(own), 0o600), os.Chown(name, int(n.owner.Uid), int(n.owner.Gid)))
}

func (n *Node) sockets() string { return filepath.Join(n.dir, "sockets") }

// environment returns the variables that docker/cluster/node.env sets on a host.
func (n *Node) environment() []string {
	var hosts []string
	for i := range nodes {
		hosts = append(hosts, addressOf(i)+":2379")
	}
	return []string{
		"PATRONI_NAME=" + n.Name, "PATRONI_ETCD_HOSTS=" + strings.Join(hosts, ","),
		"PATRONI_RESTAPI_LISTEN=" + n.Address + ":8008", "PATRONI_RESTAPI_CONNECT_ADDRESS=" + n.Address + ":8008",
		"PATRONI_POSTGRESQL_LISTEN=" + n.Address + ":5432", "PATRONI_POSTGRESQL_CONNECT_ADDRESS=" + n.Address + ":5432",
		"PATRONI_POSTGRESQL_DATA_DIR=" + n.data(), "PATRONI_POSTGRESQL_BIN_DIR=" + binDir,
		"PATRONI_SUPERUSER_USERNAME=postgres", "PATRONI_SUPERUSER_PASSWORD=" + password,
		"PATRONI_REPLICATION_USERNAME=replicator", "PATRONI_REPLICATION_PASSWORD=" + password,
	}
}

func (n *Node) data() string { return filepath.Join(n.dir, "data") }

// run starts a program in the node's namespace as the database's user, in its own process group.
func (n *Node) run(name string, env []string, args ...string) error {
	log, err := os.OpenFile(filepath.Join(filepath.Dir(n.dir), n.Name+"-"+name+".log"),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	words := append([]string{"netns", "exec", n.Name, "setpriv",
		"--reuid", strconv.Itoa(int(n.owner.Uid)), "--regid", strconv.Itoa(int(n.owner.Gid)), "--clear-groups"},
		args...)
	cmd := exec.Command("ip", words...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = n.dir, log, log
	cmd.Env = append([]string{"PATH=/usr/bin:/bin:" + binDir, "LANG=C.UTF-8"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	n.procs[name] = cmd
	go func() { _ = cmd.Wait() }()
	return nil
}

// kill sends SIGKILL to a program and its children.
func (n *Node) kill(name string) {
	if cmd := n.procs[name]; cmd != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		delete(n.procs, name)
	}
}

// Kill sends SIGKILL to Patroni and every Postgres process of the node, like a power failure. etcd
// keeps running, because it stands for separate hosts.
func (n *Node) Kill() {
	n.kill("patroni")
	// Postgres creates its own sessions, so find it by its working directory.
	procs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, cwd := range procs {
		if target, err := os.Readlink(cwd); err == nil && target == n.data() {
			if pid, err := strconv.Atoi(strings.Split(cwd, "/")[2]); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// StartPatroni starts Patroni, which starts or rejoins Postgres.
func (n *Node) StartPatroni() error {
	return n.run("patroni", n.environment(), patroni, filepath.Join(n.dir, "patroni.yml"))
}

func (n *Node) startEtcd() error {
	var members []string
	for i := range nodes {
		members = append(members, fmt.Sprintf("%s=http://%s:2380", nameOf(i), addressOf(i)))
	}
	return n.run("etcd", nil, etcd, "--name", n.Name, "--data-dir", filepath.Join(n.dir, "etcd"),
		"--listen-client-urls", "http://"+n.Address+":2379", "--advertise-client-urls", "http://"+n.Address+":2379",
		"--listen-peer-urls", "http://"+n.Address+":2380", "--initial-advertise-peer-urls", "http://"+n.Address+":2380",
		"--initial-cluster", strings.Join(members, ","), "--initial-cluster-state", "new", "--initial-cluster-token",
		"daawo", "--enable-v2", "--heartbeat-interval", "100", "--election-timeout", "1000")
}
