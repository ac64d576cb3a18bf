package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"daawo/scripts/server"
)

// pulse is the function of the deployments: it replies with its version, adds a job for a POST with
// an id, and streams.
const pulse = `package pulse

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"daawo/supabase/edge"

	"github.com/jackc/pgx/v5"
)

const version = "VERSION"

var Func = edge.Func{
	MaxConcurrent: 1000,
	Handler: func(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
		if strings.HasSuffix(r.URL.Path, "/stream") {
			events := edge.NewEvents(w)
			for n := range 40 {
				if err := events.Send("", n); err != nil {
					return err
				}
				time.Sleep(50 * time.Millisecond)
			}
			return events.Send("end", version)
		}
		var body struct{ ID string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return err
		}
		if body.ID == "" {
			return edge.WriteJSON(w, http.StatusOK, version)
		}
		b := env.Batch(edge.Service)
		b.Queue("insert into drill_asked (id) values ($1)", body.ID)
		b.Enqueue("mark", body.ID)
		if err := b.Send(r.Context()); err != nil {
			return err
		}
		return edge.WriteJSON(w, http.StatusOK, version)
	},
	Jobs: map[string]edge.Job{"mark": {Run: func(ctx context.Context, env *edge.Env, args []byte) error {
		var id string
		if err := json.Unmarshal(args, &id); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
		return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "insert into drill_done (id, version) values ($1, $2)", id, version)
			return err
		})
	}}},
}
`

// deployDrill deploys 50 times and rolls back 10 times during 200 calls a second, of which a tenth
// add a job, and ten streams. It counts dropped calls, cut streams, lost jobs and jobs that ran
// twice.
func deployDrill(ctx context.Context, s settings) (string, error) {
	p, err := newProject(ctx)
	defer p.close()
	if err != nil {
		return "", err
	}
	st, err := server.New(ctx, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()
	conn, err := st.DB(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `
create table drill_asked (id text primary key);
create table drill_done (id text, version text);
alter table drill_asked enable row level security;
alter table drill_done enable row level security;
grant insert on drill_asked, drill_done to service_role`); err != nil {
		return "", err
	}
	bundles, err := buildVersions(ctx, s.binary, p, st)
	if err != nil {
		return "", err
	}
	if err := operate(ctx, s.binary, st, "deploy", "--bundle", bundles[0]); err != nil {
		return "", err
	}
	load := beginPulse(ctx, st)
	deploys, rollbacks, slowest, err := deployAgain(ctx, s.binary, st, bundles, s.rounds(50, 5), s.rounds(10, 1))
	load.stop()
	if err != nil {
		return "", err
	}
	var asked, lost, twice int
	for range 1200 {
		const q = `
select (select count(*) from drill_asked),
       (select count(*) from drill_asked a where not exists (select from drill_done d where d.id = a.id)),
       (select count(*) from (select id from drill_done group by id having count(*) > 1) t)`
		if err := conn.QueryRow(ctx, q).Scan(&asked, &lost, &twice); err != nil {
			return "", err
		}
		if lost == 0 {
			break
		}
		pause(ctx, 100*time.Millisecond)
	}
	figures := fmt.Sprintf("%d deploys, %d rollbacks, the slowest %s; %d calls, dropped %d; %d streams, cut %d; %d jobs, lost %d, run twice %d",
		deploys, rollbacks, slowest.Round(10*time.Millisecond), load.calls.Load(), load.dropped.Load(),
		load.streams.Load(), load.cut.Load(), asked, lost, twice)
	switch {
	case load.dropped.Load()+load.cut.Load() > 0:
		return figures, fmt.Errorf("a call failed: %s", load.first)
	case lost > 0 || int64(asked) != load.jobs.Load():
		return figures, fmt.Errorf("%d jobs were acknowledged, %d are stored, %d did not run", load.jobs.Load(), asked,
			lost)
	case twice > 0:
		return figures, errors.New("a job ran twice although nothing crashed")
	}
	return figures, nil
}

// operate runs a command of functions on the stack.
func operate(ctx context.Context, binary string, st *server.Stack, args ...string) error {
	args = append(append([]string{"functions"}, args...), "--data", st.Data())
	if out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// buildVersions builds two bundles of the project with the function pulse.
func buildVersions(ctx context.Context, binary string, p project, st *server.Stack) (bundles [2]string, err error) {
	if err := p.newFunction(ctx, binary, "pulse", strings.Replace(pulse, "VERSION", "a", 1)); err != nil {
		return bundles, err
	}
	for i, version := range []string{"a", "b"} {
		if err := p.write("pulse", strings.Replace(pulse, "VERSION", version, 1)); err != nil {
			return bundles, err
		}
		bundles[i] = filepath.Join(p.dir, "bundle-"+version)
		if err := operate(ctx, binary, st, "deploy", "--workdir", p.dir, "--output", bundles[i]); err != nil {
			return bundles, err
		}
	}
	return bundles, nil
}

// deployAgain deploys the bundles in turn, with rollbacks in between.
func deployAgain(ctx context.Context, binary string, st *server.Stack, bundles [2]string, most, backs int) (deploys,
	rollbacks int, slowest time.Duration, err error) {
	for deploys < most {
		begun := time.Now()
		if err := operate(ctx, binary, st, "deploy", "--bundle", bundles[(deploys+1)%2]); err != nil {
			return deploys, rollbacks, slowest, err
		}
		slowest = max(slowest, time.Since(begun))
		if deploys++; deploys%(most/backs) == 0 {
			if err := operate(ctx, binary, st, "rollback"); err != nil {
				return deploys, rollbacks, slowest, err
			}
			rollbacks++
		}
	}
	return deploys, rollbacks, slowest, nil
}

// pulseLoad calls pulse.
type pulseLoad struct {
	cancel  context.CancelFunc
	running sync.WaitGroup

	calls, dropped, streams, cut, jobs atomic.Int64

	once  sync.Once
	first string // failure
}

func (l *pulseLoad) fail(counter *atomic.Int64, text string) {
	counter.Add(1)
	l.once.Do(func() { l.first = text })
}

// beginPulse begins 200 calls a second and ten streams.
func beginPulse(ctx context.Context, st *server.Stack) *pulseLoad {
	l := &pulseLoad{}
	timing, cancel := context.WithCancel(ctx)
	l.cancel = cancel
	l.running.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-timing.Done():
				return
			case <-tick.C:
			}
			l.running.Go(func() { l.call(ctx, st, n) })
		}
	})
	for range 10 {
		l.running.Go(func() {
			for timing.Err() == nil {
				l.stream(ctx, st)
			}
		})
	}
	return l
}

func (l *pulseLoad) call(ctx context.Context, st *server.Stack, n int) {
	body := `{}`
	if n%10 == 0 {
		body = fmt.Sprintf(`{"id":"%d"}`, n)
	}
	l.calls.Add(1)
	if a := callFunction(ctx, st, "pulse", body); a.status != http.StatusOK {
		l.fail(&l.dropped, fmt.Sprintf("%d %s %v", a.status, a.body, a.err))
	} else if n%10 == 0 {
		l.jobs.Add(1)
	}
}

// stream reads one stream to its end.
func (l *pulseLoad) stream(ctx context.Context, st *server.Stack) {
	l.streams.Add(1)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, st.Get("API_URL")+"/functions/v1/pulse/stream", nil)
	if err != nil {
		l.fail(&l.cut, err.Error())
		return
	}
	req.Header.Set("Authorization", "Bearer "+st.Get("ANON_KEY"))
	res, err := client.Do(req)
	if err != nil {
		l.fail(&l.cut, err.Error())
		return
	}
	defer res.Body.Close()
	ended := false
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		ended = ended || lines.Text() == "event: end"
	}
	if err := lines.Err(); err != nil || !ended {
		l.fail(&l.cut, fmt.Sprint("stream: ", res.Status, " ", err))
	}
}

// stop ends the load and waits for its replies.
func (l *pulseLoad) stop() {
	l.cancel()
	l.running.Wait()
}
