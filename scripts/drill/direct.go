package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/scripts/drill/cluster"
)

// directWriter writes to the nodes that call themselves primary, through their sockets, which work
// even without network. The confirmed rows must exist at the end, so a disconnected node must not
// confirm any.
type directWriter struct {
	confirmed  []int64
	tried      int
	notWritten int // attempts that no node confirmed
}

// directTimeout is longer than a commit and shorter than a failover.
const directTimeout = 3 * time.Second

func (d *directWriter) run(ctx context.Context, c *cluster.Cluster) {
	d.write(ctx, c.Nodes, `create schema if not exists drill; create table if not exists drill.direct (id bigint primary key)`, nil)
	for ctx.Err() == nil {
		d.tried++
		id := int64(d.tried)
		if d.write(ctx, c.Nodes, fmt.Sprintf(`insert into drill.direct values (%d)`, id),
			func() { d.confirmed = append(d.confirmed, id) }) {
			pause(ctx, 100*time.Millisecond)
			continue
		}
		d.notWritten++
		pause(ctx, 100*time.Millisecond)
	}
}

// write runs a statement on the first node that accepts it.
func (d *directWriter) write(ctx context.Context, nodes []*cluster.Node, sql string, confirmed func()) bool {
	for _, n := range nodes {
		err := func() error {
			ctx, cancel := context.WithTimeout(ctx, directTimeout)
			defer cancel()
			conn, err := n.Connect(ctx)
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(ctx))
			_, err = conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
			return err
		}()
		if err == nil {
			if confirmed != nil {
				confirmed()
			}
			return true
		}
	}
	return false
}

// check looks for every confirmed row on the final primary.
func (d *directWriter) check(ctx context.Context, c *cluster.Cluster) (string, error) {
	primary, _, err := c.Primary(ctx)
	if err != nil {
		return "", err
	}
	conn, err := primary.Connect(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	var found int
	err = conn.QueryRow(ctx, `select count(*) from unnest($1::bigint[]) as sent (id) join drill.direct using (id)`,
		d.confirmed).Scan(&found)
	if err != nil {
		return "", err
	}
	lost := len(d.confirmed) - found
	figures := fmt.Sprintf("%d confirmed by the nodes themselves, lost %d", len(d.confirmed), lost)
	switch {
	case lost > 0:
		return figures, fmt.Errorf("%d writes that a node confirmed are lost", lost)
	case found == 0:
		return figures, errors.New("no node confirmed a write: the drill is inconclusive")
	}
	return figures, nil
}
