package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"daawo/functions/edge"

	"github.com/jackc/pgx/v5"
)

// A function that stores what it is told and reminds of it later: the row and the job exist together or not at all.
func ExampleEnv_Enqueue() {
	type visit struct {
		Clinic string    `json:"clinic"`
		At     time.Time `json:"at"`
	}
	_ = edge.Func{
		Methods: []string{http.MethodPost},
		Handler: func(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
			if !env.Caller.IsUser() {
				return edge.Errorf(http.StatusForbidden, "sign_in", "Please sign in first.")
			}
			body, err := edge.ReadJSON[visit](r)
			if err != nil {
				return err
			}
			err = env.Tx(r.Context(), edge.Service, func(tx pgx.Tx) error {
				if _, err := tx.Exec(r.Context(), `insert into visits (person, clinic, at) values ($1, $2, $3)`,
					env.Caller.Subject, body.Clinic, body.At); err != nil {
					return err
				}
				return env.Enqueue(r.Context(), tx, "remind", body)
			})
			if err != nil {
				return err // nothing is stored, the caller gets 500, the log says why
			}
			return edge.WriteJSON(w, http.StatusCreated, body)
		},
		Jobs: map[string]edge.Job{
			"remind": {Run: func(ctx context.Context, env *edge.Env, args []byte) error {
				var v visit
				if err := json.Unmarshal(args, &v); err != nil {
					return err
				}
				env.Log.InfoContext(ctx, "reminding", "clinic", v.Clinic)
				return nil // after an error the job runs again, so it must be safe to repeat
			}},
		},
		Schedule: "0 3 * * *", // every night at 03:00 UTC, on one replica
		Run: func(ctx context.Context, env *edge.Env) error {
			return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, `delete from visits where at < $1`, env.Now().AddDate(0, -1, 0))
				return err
			})
		},
	}
}

// As the caller, row level security decides what is seen.
func ExampleEnv_Tx() {
	_ = func(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
		var clinics []string
		err := env.Tx(r.Context(), env.Caller, func(tx pgx.Tx) error {
			rows, err := tx.Query(r.Context(), `select clinic from visits order by at`)
			if err != nil {
				return err
			}
			clinics, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		if err != nil {
			return err
		}
		return edge.WriteJSON(w, http.StatusOK, clinics)
	}
}

// Events go out as they are sent.
func ExampleNewEvents() {
	w := httptest.NewRecorder()
	events := edge.NewEvents(w)
	for n := range 2 {
		if err := events.Send("tick", map[string]int{"n": n}); err != nil {
			return // the client has left
		}
	}
	fmt.Print(w.Body)
	// Output:
	// event: tick
	// data: {"n":0}
	//
	// event: tick
	// data: {"n":1}
}
