package edge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
)

// A function that stores a visit and reminds of it later. The row and the job are stored in one
// transaction.
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
				return err // the transaction has rolled back; the caller gets 500
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
				return nil // a job runs again after an error, so it must be safe to repeat
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

// A transaction as the caller reads the rows that row level security allows.
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

// Each event is sent at once.
func ExampleNewEvents() {
	w := httptest.NewRecorder()
	events := edge.NewEvents(w)
	for n := range 2 {
		if err := events.Send("tick", map[string]int{"n": n}); err != nil {
			return // the client has disconnected
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

// A function that reads an HTML form with one file.
func ExampleReadForm() {
	r := httptest.NewRequest(http.MethodPost, "/contact", strings.NewReader("name=Amina&text=Hello"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	form, err := edge.ReadForm(r, edge.FormLimits{Fields: 5, FieldBytes: 1000, Files: 1, FileBytes: 1 << 20})
	fmt.Println(form.Values.Get("name"), form.Values.Get("text"), err)
	// Output: Amina Hello <nil>
}

// An error for the caller names the wrong fields.
func ExampleError() {
	e := edge.Errorf(http.StatusUnprocessableEntity, "invalid", "Check the form.")
	e.Fields = map[string]string{"name": "Enter a name."}
	w := httptest.NewRecorder()
	e.Write(w)
	fmt.Print(w.Code, " ", w.Body)
	// Output: 422 {"code":"invalid","message":"Check the form.","fields":{"name":"Enter a name."}}
}

// A handler with CORS answers preflight requests itself.
func ExampleCORS() {
	handler := edge.CORS(func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
		return edge.WriteJSON(w, http.StatusOK, "hello")
	})
	w := httptest.NewRecorder()
	if err := handler(w, httptest.NewRequest(http.MethodOptions, "/hello", nil), nil); err != nil {
		return
	}
	fmt.Println(w.Code, w.Header().Get("Access-Control-Allow-Origin"))
	// Output: 204 *
}
