package app

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/deploy"
	"daawo/supabase/internal/functions/host"
)

// functionsControl answers the operator's commands about functions. Its zero value is that of a
// stack whose functions run elsewhere.
type functionsControl struct {
	host     *host.Host
	dev      *child.Dev       // nil without functions in a process that is built from source
	deployer *deploy.Deployer // nil in development
	watching bool             // the source is watched
}

// FunctionsInfo says which functions a server has, and where they come from.
type FunctionsInfo struct {
	Source    string              `json:"source"` // built-in, source, development or deployed
	Version   string              `json:"version,omitempty"`
	Memory    int64               `json:"memory,omitempty"` // resident bytes of the process of deployed functions
	Functions []host.FunctionInfo `json:"functions"`
	Stats     []host.Stats        `json:"stats"`
}

// DeployToken is a new deploy token.
type DeployToken struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires_at"`
}

var errNotHosted = errors.New("this server hosts no functions: they run at FUNCTIONS_URL")

// info describes the functions of the server.
func (c functionsControl) info() (FunctionsInfo, error) {
	if c.host == nil {
		return FunctionsInfo{}, errNotHosted
	}
	info := FunctionsInfo{Source: deploy.BuiltIn, Functions: c.host.Describe().Functions, Stats: c.host.Stats()}
	if c.dev != nil {
		var builtIn bool
		info.Functions, builtIn = c.dev.Functions()
		if !builtIn {
			info.Source = "source"
		}
		if c.watching {
			info.Source = "development"
		}
	}
	if c.deployer != nil {
		id, functions := c.deployer.Functions()
		info.Functions = functions
		if id != deploy.BuiltIn {
			info.Source, info.Version, info.Memory = "deployed", id, c.deployer.MemoryUse()
		}
	}
	return info, nil
}

// handler serves the commands below /functions/.
func (c functionsControl) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /functions/list", func(w http.ResponseWriter, _ *http.Request) {
		info, err := c.info()
		reply(w, info, err)
	})
	mux.HandleFunc("POST /functions/token", func(w http.ResponseWriter, r *http.Request) {
		if c.deployer == nil {
			c.cannotDeploy(w, r)
			return
		}
		days, err := strconv.Atoi(r.URL.Query().Get("days"))
		if err != nil || days < 1 || days > 366 {
			http.Error(w, "a deploy token lives 1 to 366 days", http.StatusBadRequest)
			return
		}
		token, expires, err := c.deployer.NewToken(time.Duration(days) * 24 * time.Hour)
		reply(w, DeployToken{token, expires}, err)
	})
	mux.HandleFunc("POST /functions/token/revoke", func(w http.ResponseWriter, r *http.Request) {
		if c.deployer == nil {
			c.cannotDeploy(w, r)
			return
		}
		reply(w, struct{}{}, c.deployer.RevokeToken())
	})
	deploy := http.Handler(http.HandlerFunc(c.cannotDeploy))
	if c.deployer != nil {
		deploy = http.StripPrefix("/functions/deploy", c.deployer.Handler("control"))
	}
	mux.Handle("/functions/deploy/", deploy)
	return mux
}

func (c functionsControl) cannotDeploy(w http.ResponseWriter, _ *http.Request) {
	if c.host == nil {
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
