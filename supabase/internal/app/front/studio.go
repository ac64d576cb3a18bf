package front

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"

	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/app/studio"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/gateway"
)

// ServesStudio reports whether a stack has a port of Studio: for the one at STUDIO_UPSTREAM_URL, or
// for an added one. On a public address that needs a password, or accounts that may open it.
func ServesStudio(in installation.Installation) bool {
	c := in.Config
	if c.StudioUpstreamURL != "" {
		return true
	}
	if in.Added == nil || !c.Studio.Enabled {
		return false
	}
	return c.Loopback() || c.StudioPassword != "" || in.StudioAccess != "" && addedStudio(in)
}

// addedStudio reports whether Studio was added: on a public address no port is opened without it.
func addedStudio(in installation.Installation) bool {
	_, ok, err := in.Added.FindLocked(studio.Part)
	if err != nil {
		in.Log.Warn("Studio is not served", "error", err)
	}
	return ok && err == nil
}

// openStudioPort opens the port of Studio. An added Studio moves to another port if its own is
// taken: most projects never open it.
func (f *Front) openStudioPort() error {
	if !ServesStudio(f.Installation) {
		return nil
	}
	port, added := f.Config.Studio.Port, f.Config.StudioUpstreamURL == ""
	if added {
		port = studioPort(f.Config, f.AdminSite != nil)
	}
	l, err := f.sockets.Listen(handover.StudioSocket, f.Config.Host, port, added || f.AnyPort)
	if err != nil {
		return err
	}
	// its server closes it as well
	f.OnClose("Studio's port", func(context.Context) error { _ = l.Close(); return nil })
	f.studio = l
	scheme := "http"
	if f.Config.API.TLS.Enabled || len(f.Config.TLSDomains) > 0 {
		scheme = "https"
	}
	host := f.Config.Host
	if ip := net.ParseIP(host); host == "localhost" || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	address := scheme + "://" + net.JoinHostPort(host, strconv.Itoa(handover.Port(l)))
	f.Studio = cmp.Or(f.Config.StudioURL, address)
	return nil
}

// studioPort returns the port of an added Studio. The administrators' application keeps its own.
func studioPort(c *config.Config, desk bool) uint16 {
	if desk && c.Studio.Port != 0 && c.Studio.Port == c.AdminPort {
		return c.Studio.Port + 2
	}
	return c.Studio.Port
}

// serveStudio serves Studio on its port: behind its login if it has a password or other machines
// reach it, else to this machine only. signIn and secure may be nil.
func (f *Front) serveStudio(studio http.Handler, signIn gateway.SignIn, secure *tls.Config) {
	if f.studio == nil {
		return
	}
	user, password := f.Config.DashboardUser, f.Config.DashboardPassword
	if f.Config.StudioPassword != "" {
		user, password = f.Config.StudioUser, f.Config.StudioPassword
	}
	door := gateway.Local(studio)
	if f.Config.StudioUpstreamURL != "" || !f.Config.Loopback() || password != "" {
		door = gateway.Login(gateway.LoginOptions{
			User: user, Password: password, SignIn: signIn, Proxies: f.Config.Proxies,
		}, studio)
	}
	Serve(f.Installation, "Studio", door, f.studio, connLimits(f.Config), secure)
}
