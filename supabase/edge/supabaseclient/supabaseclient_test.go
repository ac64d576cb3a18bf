package supabaseclient_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/edge/supabaseclient"
	"daawo/supabase/edgetest"
)

// A function that reads rows as its caller, so that row level security applies, and calls a
// function of the database.
func Example() {
	type visit struct {
		Clinic string `json:"clinic"`
	}
	type reply struct {
		Visits []visit `json:"visits"`
		Free   int     `json:"free"`
	}
	_ = edge.Func{JSON: edge.JSON(func(r *http.Request, env *edge.Env, _ edge.None) (reply, error) {
		c, err := supabaseclient.New(r.Context(), env, env.Caller)
		if err != nil {
			return reply{}, err
		}
		var out reply
		if _, err := c.From("visits").Select("clinic", "", false).ExecuteTo(&out.Visits); err != nil {
			return reply{}, err
		}
		out.Free, err = supabaseclient.Rpc[int](c, "free_visits", map[string]string{"clinic": "north"})
		return out, err
	})}
}

// TestClient checks the credentials of callers, calls of database functions, and that requests end
// with their context.
func TestClient(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/rest/v1/hang":
			<-hang
		case "/rest/v1/rpc/fails":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"code":"P0001","message":"no","details":null,"hint":null}`))
		case "/rest/v1/rpc/adds":
			_, _ = w.Write([]byte(`3`))
		default:
			_, _ = w.Write([]byte(`[{"token":"` + r.Header.Get("Authorization") + `"}]`))
		}
	}))
	defer server.Close()
	defer close(hang)
	f := edgetest.New(t, edge.Func{})
	f.Env["SUPABASE_URL"], f.Env["SUPABASE_ANON_KEY"], f.Env["SUPABASE_SERVICE_ROLE_KEY"] = server.URL, "anon-key",
		"service-key"
	for token, as := range map[string]edge.Caller{
		"Bearer anon-key":    {Role: "anon"},
		"Bearer user-token":  {Role: "authenticated", Token: "user-token"},
		"Bearer service-key": edge.Service,
	} {
		c, err := supabaseclient.New(t.Context(), f.NewEnv(), as)
		if err != nil {
			t.Fatal(err)
		}
		var rows []struct{ Token string }
		if _, err := c.From("x").Select("*", "", false).ExecuteTo(&rows); err != nil || rows[0].Token != token {
			t.Errorf("%v %v, want %s", rows, err, token)
		}
		if n, err := supabaseclient.Rpc[int](c, "adds", nil); err != nil || n != 3 {
			t.Errorf("rpc: %d %v", n, err)
		}
		if _, err := supabaseclient.Rpc[int](c, "fails", nil); err == nil || !strings.Contains(err.Error(), "P0001") {
			t.Errorf("a failed rpc returned %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c, err := supabaseclient.New(ctx, f.NewEnv(), edge.Service)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, _, err = c.From("hang").Select("*", "", false).Execute()
	if err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("a query outlived its context: %v", err)
	}
	if err := c.Within(func() error { <-hang; return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Within: %v", err)
	}
}
