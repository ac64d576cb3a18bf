package rest

import (
	"net/http"
	"slices"

	"daawo/supabase/internal/database/pool"
)

// replicaReads selects the requests that a standby may answer: reads that tolerate replica lag.
type replicaReads struct {
	replica *pool.Replica // nil for none
	tables  []string      // schema.name
}

// allow reports whether j is a plain read of one of the tables. With a pre-request function the
// answer is always false: the function may write, and a standby cannot.
func (r replicaReads) allow(j *job) bool {
	p := j.plan
	if r.replica == nil || j.state.config.PreRequest != nil || p.Mutation != nil || p.Call != nil ||
		len(p.Read.Children) > 0 {
		return false
	}
	if j.http.Method != http.MethodGet && j.http.Method != http.MethodHead {
		return false
	}
	return slices.Contains(r.tables, p.Read.From.Schema+"."+p.Read.From.Name)
}
