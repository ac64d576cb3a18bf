package rest

import (
	"net/http"
	"slices"

	"daawo/supabase/internal/db"
)

// stale says which requests a standby may answer: those of which nobody minds that the answer is seconds old.
type stale struct {
	replica *db.Replica
	tables  []string // schema.name
}

// serves is for a plain read of one of the tables. Where a pre-request function runs it may write, which no standby can.
func (s stale) serves(j *job) bool {
	p := j.plan
	if s.replica == nil || j.state.config.PreRequest != nil || p.Mutation != nil || p.Call != nil || len(p.Read.Children) > 0 {
		return false
	}
	if j.http.Method != http.MethodGet && j.http.Method != http.MethodHead {
		return false
	}
	return slices.Contains(s.tables, p.Read.From.Schema+"."+p.Read.From.Name)
}
