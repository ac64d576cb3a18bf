// Package trackdownload counts the download of a resource. functions.All imports it, and
// resource-list, which counts the downloads of browsers without scripts.
package trackdownload

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"daawo/supabase/edge"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Func is called by the site's script with its publishable key before it opens the file.
var Func = edge.Func{
	Methods: []string{http.MethodPost},
	Timeout: 10 * time.Second,
	MaxBody: 1 << 10,
	JSON:    edge.JSON(count),
}

// download is the resource whose file is downloaded.
type download struct {
	ResourceID string `json:"resourceId" validate:"required,format=uuid"`
}

// downloads is the reply.
type downloads struct {
	Count int64 `json:"download_count" doc:"Downloads of the resource so far, this one included."`
}

// readsPerHour is the limit per client. It is high because thousands of readers may share the
// address of a carrier's NAT.
const readsPerHour = 600

func count(r *http.Request, env *edge.Env, d download) (downloads, error) {
	total, err := Count(r.Context(), env, uuid.MustParse(d.ResourceID))
	return downloads{Count: total}, err
}

// Count counts a download of the caller and returns the downloads of the resource so far. It
// returns an *edge.Error if there is no such active resource, or above the limit.
func Count(ctx context.Context, env *edge.Env, id uuid.UUID) (int64, error) {
	var total *int64
	counting := env.Batch(edge.Service)
	counting.Limit(ctx, "reads", most(env), time.Hour)
	counting.Queue(`select public.track_download($1)`,
		id).QueryRow(func(row pgx.Row) error { return row.Scan(&total) })
	if err := counting.Send(ctx); err != nil {
		return 0, err
	}
	if total == nil {
		return 0, edge.Errorf(http.StatusNotFound, "resource_not_found", "There is no such resource.")
	}
	// The count was committed asynchronously, so that readers of one popular resource do not wait
	// for each other's flush. This commit is synchronous: its flush includes the count, and
	// concurrent requests share it.
	durable := env.Batch(edge.Service)
	durable.Queue(`select pg_logical_emit_message(true, 'daawo', 'download')`)
	if err := durable.Send(ctx); err != nil {
		return 0, err
	}
	return *total, nil
}

// most returns the limit per client and hour. READS_PER_HOUR changes it for end-to-end tests.
func most(env *edge.Env) int {
	if n, err := strconv.Atoi(env.Get("READS_PER_HOUR")); err == nil && n > 0 {
		return n
	}
	return readsPerHour
}
