// Package cluster builds a small high-availability Postgres for the drills: three hosts in network
// namespaces, each with etcd, Patroni and Debian's Postgres 15, on a separate bridge. It needs root
// on Linux and the packages that scripts/ensure-cluster.sh installs.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	nodes    = 3
	bridge   = "daawobr0"
	network  = "10.213.77."
	password = "drill"
	binDir   = "/usr/lib/postgresql/15/bin"
	etcd     = "/usr/bin/etcd"
	patroni  = "/usr/bin/patroni"
)

// Cluster is the three nodes and the folder of their data and logs.
type Cluster struct {
	Dir      string
	Nodes    []*Node
	KeepLogs bool // Close keeps the logs of all programs in Dir
}

// Node is one host: a network namespace with one address.
type Node struct {
	Name    string // also the name of the namespace
	Address string
	dir     string
	owner   syscall.Credential
	procs   map[string]*exec.Cmd
}

func nameOf(i int) string    { return "daawo-n" + strconv.Itoa(i+1) }
func addressOf(i int) string { return network + strconv.Itoa(11+i) }

// New creates the network and starts the nodes.
func New(ctx context.Context) (*Cluster, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("network namespaces need root")
	}
	for _, program := range []string{etcd, patroni, binDir + "/postgres"} {
		if _, err := os.Stat(program); err != nil {
			return nil, fmt.Errorf("%w: scripts/ensure-cluster.sh installs it", err)
		}
	}
	owner, err := postgresUser()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "daawo-cluster-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{Dir: dir}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	removeNetwork()
	if err := ip("link", "add", bridge, "type", "bridge"); err != nil {
		return nil, err
	}
	if err := errors.Join(ip("addr", "add", network+"1/24", "dev", bridge),
		ip("link", "set", bridge, "up")); err != nil {
		return nil, err
	}
	for i := range nodes {
		n := &Node{Name: nameOf(i), Address: addressOf(i), owner: owner, procs: map[string]*exec.Cmd{}}
		n.dir = filepath.Join(dir, n.Name)
		c.Nodes = append(c.Nodes, n)
		if err := n.prepare(); err != nil {
			c.Close()
			return nil, err
		}
	}
	if err := c.start(ctx); err != nil {
		c.KeepLogs = true // the error names their folder
		c.Close()
		return nil, err
	}
	return c, nil
}

// start starts etcd and Patroni on all nodes and waits for a primary with two standbys.
func (c *Cluster) start(ctx context.Context) error {
	for _, n := range c.Nodes {
		if err := errors.Join(n.startEtcd(), n.StartPatroni()); err != nil {
			return err
		}
	}
	if _, _, err := c.WaitOther(ctx, nil, time.Minute); err != nil {
		return err
	}
	return c.WaitHealthy(ctx, time.Minute)
}

// URL returns a connection string with all nodes and a value of libpq's target_session_attrs.
func (c *Cluster) URL(session string) string {
	var hosts []string
	for _, n := range c.Nodes {
		hosts = append(hosts, n.Address)
	}
	return URL(strings.Join(hosts, ",")) + "?connect_timeout=2&target_session_attrs=" + session
}

// URL returns a connection string for hosts of the cluster.
func URL(hosts string) string { return "postgres://postgres:" + password + "@" + hosts + "/postgres" }

// Close ends every process and removes the network and the folder.
func (c *Cluster) Close() {
	for _, n := range c.Nodes {
		n.Kill()
		n.kill("etcd")
	}
	removeNetwork()
	for _, n := range c.Nodes {
		_ = os.RemoveAll(n.dir)
	}
	if !c.KeepLogs {
		_ = os.RemoveAll(c.Dir)
	}
}

func postgresUser() (syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return syscall.Credential{}, err
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// removeNetwork removes the network of an earlier, interrupted drill. Errors are ignored.
func removeNetwork() {
	for i := range nodes {
		_ = ip("netns", "del", nameOf(i))
		_ = ip("link", "del", linkOf(nameOf(i))) // an ending process keeps its namespace for a moment
	}
	_ = ip("link", "del", bridge)
}
