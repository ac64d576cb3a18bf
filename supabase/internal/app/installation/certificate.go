package installation

import (
	"crypto/tls"

	"daawo/supabase/internal/app/datadir"
)

// Certificate returns the certificate of [api.tls], or without paths a local one, as the official
// CLI makes.
func (in Installation) Certificate() (tls.Certificate, error) {
	t := in.Config.API.TLS
	if t.CertPath == "" {
		return datadir.Certificate(in.Data, "api")
	}
	return tls.LoadX509KeyPair(in.Config.Path(t.CertPath), in.Config.Path(t.KeyPath))
}
