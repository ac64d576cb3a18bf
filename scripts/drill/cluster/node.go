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
	"text/template"
)

// prepare makes the node's namespace, its cable to the bridge and its folders.
func (n *Node) prepare(i int, c *Cluster) error {
	outer, inner := n.cable(), "eth0"
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
	return n.writeConfig(i)
}

func (n *Node) cable() string { return "dwv" + n.Name[len(n.Name)-1:] }

// Cut takes the node's cable out; Heal puts it back.
func (n *Node) Cut() error { return ip("link", "set", n.cable(), "down") }

// Heal connects the node again.
func (n *Node) Heal() error { return ip("link", "set", n.cable(), "up") }

var patroniConfig = template.Must(template.New("patroni").Parse(`scope: daawo
name: {{.Name}}
restapi:
  listen: {{.Address}}:8008
  connect_address: {{.Address}}:8008
etcd3:
  hosts: [{{.Etcd}}]
bootstrap:
  dcs:
    # The shortest times that Patroni allows: an outage lasts about ttl.
    ttl: 20
    loop_wait: 2
    retry_timeout: 3
    # A commit waits for one standby, also when none is there: an acknowledged report is on two disks.
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters:
        max_connections: 150
        shared_buffers: 32MB
        synchronous_commit: 'on'
        wal_log_hints: 'on'
        wal_keep_size: 256MB
  initdb:
    - encoding: UTF8
    - data-checksums
    - locale: C.UTF-8
postgresql:
  listen: {{.Address}}:5432
  connect_address: {{.Address}}:5432
  data_dir: {{.Dir}}/data
  bin_dir: {{.BinDir}}
  authentication:
    superuser: {username: postgres, password: {{.Password}}}
    replication: {username: replicator, password: {{.Password}}}
  pg_hba:
    - local all all trust
    - host all all {{.Network}}0/24 scram-sha-256
    - host replication replicator {{.Network}}0/24 scram-sha-256
  parameters:
    unix_socket_directories: {{.Dir}}/sockets
`))

func (n *Node) writeConfig(int) error {
	f, err := os.Create(filepath.Join(n.dir, "patroni.yml"))
	if err != nil {
		return err
	}
	defer f.Close()
	etcd := []string{network + "11:2379", network + "12:2379", network + "13:2379"}
	if err := patroniConfig.Execute(f, map[string]string{
		"Name": n.Name, "Address": n.Address, "Etcd": strings.Join(etcd, ", "), "Dir": n.dir,
		"BinDir": binDir, "Password": password, "Network": network,
	}); err != nil {
		return err
	}
	return f.Chown(int(n.owner.Uid), int(n.owner.Gid))
}

// run starts a program in the node's namespace as the database's user, in a process group of its own.
func (n *Node) run(name string, env []string, args ...string) error {
	log, err := os.OpenFile(filepath.Join(filepath.Dir(n.dir), n.Name+"-"+name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	words := append([]string{"netns", "exec", n.Name, "setpriv",
		"--reuid", strconv.Itoa(int(n.owner.Uid)), "--regid", strconv.Itoa(int(n.owner.Gid)), "--clear-groups"}, args...)
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

// kill ends a program and its children at once.
func (n *Node) kill(name string) {
	if cmd := n.procs[name]; cmd != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		delete(n.procs, name)
	}
}

// Kill ends Patroni and every Postgres process of the node at once, as a power cut would. etcd goes on: it stands for
// the hosts that a real installation would have beside the database.
func (n *Node) Kill() {
	n.kill("patroni")
	// Postgres makes its own sessions: find it by the data folder it works in.
	procs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, cwd := range procs {
		if target, err := os.Readlink(cwd); err == nil && target == filepath.Join(n.dir, "data") {
			if pid, err := strconv.Atoi(strings.Split(cwd, "/")[2]); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// StartPatroni starts Patroni, which starts or rejoins Postgres.
func (n *Node) StartPatroni() error {
	return n.run("patroni", nil, "/usr/bin/patroni", filepath.Join(n.dir, "patroni.yml"))
}

func (n *Node) startEtcd(c *Cluster, state string) error {
	var members []string
	for _, m := range c.Nodes {
		members = append(members, m.Name+"=http://"+m.Address+":2380")
	}
	for i := len(c.Nodes) + 1; i <= 3; i++ {
		members = append(members, fmt.Sprintf("daawo-n%d=http://%s%d:2380", i, network, 10+i))
	}
	return n.run("etcd", nil, "/usr/bin/etcd", "--name", n.Name, "--data-dir", filepath.Join(n.dir, "etcd"),
		"--listen-client-urls", "http://"+n.Address+":2379", "--advertise-client-urls", "http://"+n.Address+":2379",
		"--listen-peer-urls", "http://"+n.Address+":2380", "--initial-advertise-peer-urls", "http://"+n.Address+":2380",
		"--initial-cluster", strings.Join(members, ","), "--initial-cluster-state", state, "--initial-cluster-token", "daawo",
		"--heartbeat-interval", "100", "--election-timeout", "1000")
}
