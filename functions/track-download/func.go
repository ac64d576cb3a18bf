// Package trackdownload counts the download of a resource. Only functions.All imports it.
package trackdownload

import (
	"net/http"
	"strconv"
	"time"

	"daawo/functions/edge"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Func is called by the site's script with its publishable key, before it opens the file.
var Func = edge.Func{
	Methods: []string{http.MethodPost},
	Timeout: 10 * time.Second,
	MaxBody: 1 << 10,
	Handler: handle,
}

// readsPerHour is the limit of one client, generous because thousands of readers may share a carrier's address.
const readsPerHour = 600

func handle(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	ctx := r.Context()
	body, err := edge.ReadJSON[struct {
		ResourceID string `json:"resourceId"`
	}](r)
	if err != nil {
		return err
	}
	id, err := uuid.Parse(body.ResourceID)
	if err != nil {
		return &edge.Error{Status: http.StatusBadRequest, Code: "validation_failed", Message: "resourceId must be a UUID.",
			Fields: map[string]string{"resourceId": "must be a UUID"}}
	}
	if err := limit(r, env); err != nil {
		return err
	}
	var total *int64
	err = env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `select public.track_download($1)`, id.String()).Scan(&total)
	})
	if err != nil {
		return err
	}
	if total == nil {
		return edge.Errorf(http.StatusNotFound, "resource_not_found", "There is no such resource.")
	}
	// The count was committed without waiting for the disk, so that readers of one popular resource do not queue for it.
	// This commit waits; its flush covers the count, too, and is shared by all who come at the same time.
	err = env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select pg_logical_emit_message(true, 'daawo', 'download')`)
		return err
	})
	if err != nil {
		return err
	}
	return edge.WriteJSON(w, http.StatusOK, map[string]int64{"download_count": *total})
}

// limit counts the call against its client. READS_PER_HOUR changes the limit, for tests of the whole.
func limit(r *http.Request, env *edge.Env) error {
	most := readsPerHour
	if n, err := strconv.Atoi(env.Get("READS_PER_HOUR")); err == nil && n > 0 {
		most = n
	}
	return env.Limit(r.Context(), "reads", most, time.Hour)
}
