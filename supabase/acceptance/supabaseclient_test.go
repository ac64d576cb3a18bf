package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"daawo/supabase/edge"
	"daawo/supabase/edge/supabaseclient"
	"daawo/supabase/internal/app"

	"github.com/google/uuid"
)

// clientAccess is what a caller gets: whether rows are visible, a value, or an error.
type clientAccess struct {
	Resources string `json:"resources"`
	Reports   string `json:"reports"`
	Bucket    string `json:"bucket"`
	Downloads string `json:"downloads"`
}

// accessFunc tries tables, storage and a function of the database as its caller with supabase-go.
var accessFunc = edge.Func{JSON: edge.JSON(func(r *http.Request, env *edge.Env, _ edge.None) (clientAccess, error) {
	c, err := supabaseclient.New(r.Context(), env, env.Caller)
	if err != nil {
		return clientAccess{}, err
	}
	visible := func(table string) string {
		var rows []struct{ ID string }
		if _, err := c.From(table).Select("id", "", false).ExecuteTo(&rows); err != nil {
			return err.Error()
		}
		return fmt.Sprint(len(rows) > 0)
	}
	got := clientAccess{Resources: visible("resources"), Reports: visible("reports")}
	err = c.Within(func() error {
		bucket, err := c.Storage.GetBucket("report-photos")
		got.Bucket = bucket.Name
		return err
	})
	if err != nil {
		got.Bucket = err.Error()
	}
	total, err := supabaseclient.Rpc[*int](c, "track_download", map[string]string{"resource_id": uuid.Nil.String()})
	if got.Downloads = fmt.Sprint(total); err != nil {
		got.Downloads = err.Error()
	}
	return got, nil
})}

// TestSupabaseClient checks that a function with supabase-go acts as its caller, as row level
// security and grants allow.
func TestSupabaseClient(t *testing.T) {
	info := start(t, newApp(t, dataFolder(t), nil, func(o *app.Options) {
		o.Functions = maps.Clone(o.Functions)
		o.Functions["access"] = accessFunc
	}))
	reportWithPhoto(t, info)
	for key, want := range map[string]clientAccess{
		"PUBLISHABLE_KEY": {"true", "(42501) permission denied for table reports", "Bucket not found",
			"rpc track_download: 42501: permission denied for function track_download"},
		"SECRET_KEY": {"true", "true", "report-photos", "<nil>"},
	} {
		status, body := call(t, "POST", info.Get("API_URL")+"/functions/v1/access", "", "apikey", info.Get(key))
		var got clientAccess
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || got != want {
			t.Errorf("%s: %d %s, want %+v", key, status, body, want)
		}
	}
}
