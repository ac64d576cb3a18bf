package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/scripts/drill/cluster"
)

// directWriter writes on whichever nodes call themselves primary, through their sockets, where no cut cable reaches: what
// such a node confirms must be there in the end, so one that was cut off must confirm nothing.
type directWriter struct {
	confirmed  []int64
	tried      int
	notWritten int // tries that a node refused or left unanswered
}

// directTimeout is longer than a commit takes and shorter than a failover.
const directTimeout = 3 * time.Second

func (d *directWriter) run(ctx context.Context, c *cluster.Cluster) {
	d.write(ctx, c.Nodes, `create schema if not exists drill; create table if not exists drill.direct (id bigint primary key)`, nil)
	for ctx.Err() == nil {
		d.tried++
		id := int64(d.tried)
		if d.write(ctx, c.Nodes, fmt.Sprintf(`insert into drill.direct values (%d)`, id), func() { d.confirmed = append(d.confirmed, id) }) {
			pause(ctx, 100*time.Millisecond)
			continue
		}
		d.notWritten++
		pause(ctx, 100*time.Millisecond)
	}
}

// write runs a statement on the first node that takes it.
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

// check looks for every confirmed row on the primary of the end.
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
	var there int
	err = conn.QueryRow(ctx, `select count(*) from unnest($1::bigint[]) as sent (id) join drill.direct using (id)`, d.confirmed).Scan(&there)
	if err != nil {
		return "", err
	}
	lost := len(d.confirmed) - there
	figures := fmt.Sprintf("%d confirmed by the nodes themselves, lost %d", len(d.confirmed), lost)
	switch {
	case lost > 0:
		return figures, fmt.Errorf("%d writes that a node confirmed are gone", lost)
	case there == 0:
		return figures, errors.New("no node confirmed a write: the drill proves nothing")
	}
	return figures, nil
}
