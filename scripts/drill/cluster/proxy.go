package cluster

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Proxy is HAProxy with the configuration of docker/cluster: one address of the primary, one of a
// standby.
type Proxy struct {
	Write, Read string // host:port
	cmd         *exec.Cmd
}

// StartProxy starts HAProxy.
func (c *Cluster) StartProxy() (*Proxy, error) {
	p := &Proxy{}
	var web string
	for _, to := range []*string{&p.Write, &p.Read, &web} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*to = l.Addr().String()
		_ = l.Close()
	}
	log, err := os.Create(filepath.Join(c.Dir, "haproxy.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command("haproxy", "-db", "-f", "docker/cluster/haproxy.cfg")
	// The drill tests only the proxy's database ports: clients connect to the servers directly.
	p.cmd.Env = append(os.Environ(), "WEB="+web, "WEB1=127.0.0.1:9", "WEB2=127.0.0.1:9", "DB_WRITE="+p.Write,
		"DB_READ="+p.Read)
	for i, n := range c.Nodes {
		p.cmd.Env = append(p.cmd.Env, fmt.Sprintf("DB%d=%s", i+1, n.Address))
	}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return p, p.cmd.Start()
}

// Close kills HAProxy.
func (p *Proxy) Close() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
