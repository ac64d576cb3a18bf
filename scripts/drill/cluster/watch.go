package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

// State is the state that a node's Postgres reports.
type State struct {
	Primary  bool
	Timeline int
}

// Ask reads the node's state through its socket, which also works for a disconnected node.
func (n *Node) Ask(ctx context.Context) (State, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := n.Connect(ctx)
	if err != nil {
		return State{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var s State
	err = conn.QueryRow(ctx, `
		select not pg_is_in_recovery(),
		       case when pg_is_in_recovery() then 0 else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end`,
	).Scan(&s.Primary, &s.Timeline)
	return s, err
}

// Connect opens a connection through the node's socket.
func (n *Node) Connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, fmt.Sprintf("host=%s user=postgres password=%s dbname=postgres", n.sockets(), password))
}

// Primary returns the node that accepts writes. Two primaries at once are ErrSplitBrain.
func (c *Cluster) Primary(ctx context.Context) (*Node, State, error) {
	var primary *Node
	var state State
	for _, n := range c.Nodes {
		s, err := n.Ask(ctx)
		if err != nil || !s.Primary {
			continue
		}
		if primary != nil {
			return nil, state, fmt.Errorf("%w: %s and %s", ErrSplitBrain, primary.Name, n.Name)
		}
		primary, state = n, s
	}
	if primary == nil {
		return nil, state, errNoPrimary
	}
	return primary, state, nil
}

// Guard watches for two primaries until ctx ends and returns ErrSplitBrain if it sees them.
func (c *Cluster) Guard(ctx context.Context) error {
	for ctx.Err() == nil {
		if _, _, err := c.Primary(ctx); errors.Is(err, ErrSplitBrain) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

// ErrSplitBrain means that two nodes accepted writes at the same time.
var ErrSplitBrain = errors.New("two primaries")

var errNoPrimary = errors.New("no node is primary")

// WaitOther waits until a node other than old is the only primary.
func (c *Cluster) WaitOther(ctx context.Context, old *Node, limit time.Duration) (*Node, State, error) {
	for end := time.Now().Add(limit); ; {
		n, state, err := c.Primary(ctx)
		if err == nil && n != old {
			return n, state, nil
		}
		if err == nil {
			err = fmt.Errorf("%s is still primary", n.Name)
		}
		if errors.Is(err, ErrSplitBrain) || time.Now().After(end) || ctx.Err() != nil {
			return nil, state, fmt.Errorf("%w after %s (logs in %s)", err, limit, c.Dir)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// WaitHealthy waits until both standbys stream from the primary and Patroni lists them as
// synchronous. Before that, Patroni would not promote them, or would have to rewind one.
func (c *Cluster) WaitHealthy(ctx context.Context, limit time.Duration) error {
	for end := time.Now().Add(limit); ; {
		if n, _, err := c.Primary(ctx); err == nil && n.healthy(ctx) {
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("the cluster is not healthy after %s (logs in %s)", limit, c.Dir)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// healthy checks Postgres for streaming standbys and Patroni's REST API for their roles.
func (n *Node) healthy(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := n.Connect(ctx)
	if err != nil {
		return false
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var streaming int
	err = conn.QueryRow(ctx, `
		select count(*) from pg_stat_replication
		where state = 'streaming' and application_name like 'daawo-n%' and pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) < 1 << 20`).Scan(&streaming)
	if err != nil || streaming != nodes-1 {
		return false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.Address+":8008/cluster", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	var view struct {
		Members []struct{ Role string }
	}
	if json.NewDecoder(res.Body).Decode(&view) != nil {
		return false
	}
	synchronous := 0
	for _, m := range view.Members {
		if m.Role == "sync_standby" {
			synchronous++
		}
	}
	return synchronous == nodes-1
}
