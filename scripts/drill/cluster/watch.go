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

// State is what a node's Postgres says of itself.
type State struct {
	Primary  bool
	Timeline int
}

// Ask connects to the node and reads its state.
func (n *Node) Ask(ctx context.Context) (State, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres:%s@%s:5432/postgres", password, n.Address))
	if err != nil {
		return State{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var s State
	err = conn.QueryRow(ctx, `
		select not pg_is_in_recovery(), (select timeline_id from pg_control_checkpoint())`).Scan(&s.Primary, &s.Timeline)
	return s, err
}

// Primary is the node that accepts writes; two at once are an error, the worst one.
func (c *Cluster) Primary(ctx context.Context) (*Node, error) {
	var primary *Node
	for _, n := range c.Nodes {
		s, err := n.Ask(ctx)
		if err != nil || !s.Primary {
			continue
		}
		if primary != nil {
			return nil, fmt.Errorf("%w: %s and %s", ErrSplitBrain, primary.Name, n.Name)
		}
		primary = n
	}
	if primary == nil {
		return nil, errNoPrimary
	}
	return primary, nil
}

// ErrSplitBrain means that two nodes accepted writes at the same time.
var ErrSplitBrain = errors.New("two primaries")

var errNoPrimary = errors.New("no node is primary")

// WaitPrimary waits until exactly one node is primary.
func (c *Cluster) WaitPrimary(ctx context.Context, limit time.Duration) (*Node, error) {
	for end := time.Now().Add(limit); ; {
		n, err := c.Primary(ctx)
		if err == nil {
			return n, nil
		}
		if errors.Is(err, ErrSplitBrain) || time.Now().After(end) || ctx.Err() != nil {
			return nil, fmt.Errorf("%w after %s (logs in %s)", err, limit, c.Dir)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// WaitWhole waits until the other two nodes stream from the primary and Patroni has written down which of them is
// synchronous: before that it would rightly promote nobody.
func (c *Cluster) WaitWhole(ctx context.Context, limit time.Duration) error {
	for end := time.Now().Add(limit); ; {
		if n, err := c.Primary(ctx); err == nil && n.whole(ctx) {
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("the cluster is not whole after %s (logs in %s)", limit, c.Dir)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// whole asks Patroni's REST API for the members and their roles.
func (n *Node) whole(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
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
		Members []struct{ Role, State string }
	}
	if json.NewDecoder(res.Body).Decode(&view) != nil {
		return false
	}
	synchronous, running := 0, 0
	for _, m := range view.Members {
		if m.State == "running" || m.State == "streaming" {
			running++
		}
		if m.Role == "sync_standby" {
			synchronous++
		}
	}
	return running == 3 && synchronous >= 1
}
