package control

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/functions/deploy"
	"daawo/supabase/internal/functions/host"
)

// Functions answer the operator's commands about functions. Its zero value belongs to a
// stack whose functions run elsewhere.
type Functions struct {
	Host     *host.Host
	Dev      *child.Dev       // nil without functions in a process that is built from source
	Deployer *deploy.Deployer // nil in development
	Watching bool             // the source is watched

	TypeScript *deno.Service
}

// FunctionsInfo says which functions a server has, and where they come from.
type FunctionsInfo struct {
	Source    string              `json:"source"` // built-in, source, development or deployed
	Version   string              `json:"version,omitempty"`
	Building  bool                `json:"building,omitempty"` // the functions of the source are built for the first time
	Problem   string              `json:"problem,omitempty"`  // why none of them serve
	Memory    int64               `json:"memory,omitempty"`   // resident bytes of the processes of functions
	Functions []host.FunctionInfo `json:"functions"`
	Stats     []host.Stats        `json:"stats"`
}

// DeployToken is a new deploy token.
type DeployToken struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires_at"`
}

var errNotHosted = errors.New("this server hosts no functions: they run at FUNCTIONS_URL")

// Info describes the functions of the server.
func (c Functions) Info() (FunctionsInfo, error) {
	if c.Host == nil {
		return FunctionsInfo{}, errNotHosted
	}
	info := FunctionsInfo{Source: deploy.BuiltIn, Functions: c.Host.Describe().Functions, Stats: c.Host.Stats()}
	if c.Dev != nil {
		var builtIn bool
		info.Functions, builtIn = c.Dev.Functions()
		if !builtIn {
			info.Source = "source"
		}
		if c.Watching {
			info.Source = "development"
		}
		if err := c.Dev.Ready(); errors.Is(err, child.ErrBuilding) {
			info.Building = true
		} else if err != nil {
			info.Problem = err.Error()
		}
	}
	if c.Deployer != nil {
		id, functions := c.Deployer.Functions()
		info.Functions = functions
		if id != deploy.BuiltIn {
			info.Source, info.Version, info.Memory = "deployed", id, c.Deployer.MemoryUse()
			info.Building, info.Problem = false, ""
		}
	}
	if c.TypeScript != nil {
		// Empty lists stay lists: slices.Concat would make them null in JSON.
		info.Functions = append(append([]host.FunctionInfo{}, info.Functions...), c.TypeScript.List()...)
		slices.SortFunc(info.Functions, func(a, b host.FunctionInfo) int { return strings.Compare(a.Name, b.Name) })
		info.Stats = append(info.Stats, c.TypeScript.Host.Stats()...)
		slices.SortFunc(info.Stats, func(a, b host.Stats) int { return strings.Compare(a.Function, b.Function) })
		info.Memory += c.TypeScript.Memory()
	}
	return info, nil
}

// Handler serves the commands below /functions/.
func (c Functions) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /functions/list", func(w http.ResponseWriter, _ *http.Request) {
		info, err := c.Info()
		reply(w, info, err)
	})
	mux.HandleFunc("POST /functions/token", func(w http.ResponseWriter, r *http.Request) {
		if c.Deployer == nil {
			c.cannotDeploy(w, r)
			return
		}
		days, err := strconv.Atoi(r.URL.Query().Get("days"))
		if err != nil || days < 1 || days > 366 {
			http.Error(w, "a deploy token lives 1 to 366 days", http.StatusBadRequest)
			return
		}
		token, expires, err := c.Deployer.NewToken(time.Duration(days) * 24 * time.Hour)
		reply(w, DeployToken{token, expires}, err)
	})
	mux.HandleFunc("POST /functions/token/revoke", func(w http.ResponseWriter, r *http.Request) {
		if c.Deployer == nil {
			c.cannotDeploy(w, r)
			return
		}
		reply(w, struct{}{}, c.Deployer.RevokeToken())
	})
	deploy := http.Handler(http.HandlerFunc(c.cannotDeploy))
	if c.Deployer != nil {
		deploy = http.StripPrefix("/functions/deploy", c.Deployer.Handler("control"))
	}
	mux.Handle("/functions/deploy/", deploy)
	return mux
}

func (c Functions) cannotDeploy(w http.ResponseWriter, _ *http.Request) {
	if c.Host == nil {
		http.Error(w, errNotHosted.Error(), http.StatusConflict)
		return
	}
	http.Error(w, "the server runs with --dev, which serves functions from their source; start it without --dev to deploy", http.StatusConflict)
}

// reply sends the result of a command.
func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = edge.WriteJSON(w, http.StatusOK, v) // a struct of plain values
}
