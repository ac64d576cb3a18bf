package doctor

import (
	"os"
	"strings"
)

// container warns about a Docker that shows all clients under one address. Limits for one client
// then apply to all of them together.
func (c *checker) container() {
	if len(c.Config.PublishedOn) == 0 || c.Config.Loopback() {
		return
	}
	if len(c.Config.Proxies) > 0 {
		c.say("clients", Good, "proxied", "their addresses come from the proxies of TRUSTED_PROXIES")
		return
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // unreadable means unknown
	users, _ := os.ReadFile("/proc/self/uid_map")
	if docker := hidesClients(string(kernel), string(users)); docker != "" {
		c.say("clients", Warn, "hidden", "%s shows all clients under one address, so limits for one client hold "+
			"for all of them together: "+
			"put a proxy on the host, name it in TRUSTED_PROXIES, or raise the limits of functions "+
			"(docs/docker.md, \"Addresses of clients\")", docker)
		return
	}
	c.say("clients", Good, "kept", "this Docker keeps their addresses")
}

// hidesClients returns the kind of a Docker that replaces the addresses of clients, or "". Docker
// Desktop has a kernel of its own. In rootless Docker the container's root is an ordinary user of
// the host. (Both are from Docker's manual.)
func hidesClients(kernel, uidMap string) string {
	if strings.Contains(kernel, "linuxkit") || strings.Contains(kernel, "microsoft") {
		return "Docker Desktop"
	}
	if ids := strings.Fields(uidMap); len(ids) >= 2 && ids[0] == "0" && ids[1] != "0" {
		return "rootless Docker"
	}
	return ""
}
