package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/functions/jobs"
)

var jobsCommand = Command{
	Name:  "jobs",
	Short: "List, show, retry, cancel and run background jobs",
	Long: `
  daawo jobs list --state discarded
  daawo jobs run 42`,
	Verbs: []Command{
		{Name: "list", Args: "[FLAGS]", Short: "List jobs that wait, run or failed for good"},
		{Name: "show", Args: "ID [FLAGS]", Short: "Print one job with the errors of its attempts"},
		{Name: "retry", Args: "ID [FLAGS]", Short: "Run a job again at once; a discarded job gets one more attempt"},
		{Name: "cancel", Args: "ID [FLAGS]", Short: "Never run a job again; a running one is told to stop"},
		{Name: "run", Args: "ID [FLAGS]", Short: "Retry a job, wait for the attempt and print its result"},
	},
	Run: runJobs,
}

// jobFlags holds the flags of `jobs`.
type jobFlags struct {
	filter     jobs.JobFilter
	state      string
	json, args bool
	wait       time.Duration
}

func runJobs(ctx context.Context, inv *Invocation) error {
	verb := inv.Verb()
	var f jobFlags
	inv.dataFlag()
	inv.flags.BoolVar(&f.json, "json", false, "print JSON")
	one := 1
	switch verb {
	case "list":
		one = 0
		inv.flags.StringVar(&f.state, "state", "",
			"only these `states`, separated by commas, such as discarded,retryable")
		inv.flags.StringVar(&f.filter.Kind, "kind", "", "only this `kind`, such as function_job or send_mail")
		inv.flags.StringVar(&f.filter.Name, "name", "", "only jobs of this `FUNCTION` or FUNCTION/JOB")
		inv.flags.IntVar(&f.filter.Limit, "limit", 50, "at most this `number` of jobs")
	case "show":
		inv.flags.BoolVar(&f.args, "args", false, "also print the arguments, which may hold personal data")
	case "run":
		inv.flags.DurationVar(&f.wait, "wait", 2*time.Minute, "how `long` to wait for the attempt")
	}
	if err := inv.parseMixed(one, one); err != nil {
		return err
	}
	jobs, done, err := jobsOf(ctx, inv)
	if err != nil {
		return err
	}
	defer done()
	if verb == "list" {
		return listJobs(ctx, inv, jobs, f)
	}
	id, err := strconv.ParseInt(inv.args[0], 10, 64)
	if err != nil {
		return usagef("%q is not the id of a job", inv.args[0])
	}
	switch verb {
	case "show":
		return showJob(ctx, inv, jobs, id, f)
	case "retry":
		err = jobs.Retry(ctx, id)
	case "cancel":
		err = jobs.Cancel(ctx, id)
	case "run":
		return runJob(ctx, inv, jobs, id, f.wait)
	default:
		return inv.usage()
	}
	if err == nil {
		fmt.Fprintf(inv.Stdout, "job %d: %s\n", id,
			map[string]string{"retry": "will run at once", "cancel": "cancelled"}[verb])
	}
	return err
}

// jobsOf returns the operator of the jobs of the selected installation. done closes its
// connections.
func jobsOf(ctx context.Context, inv *Invocation) (list jobs.Operator, done func(), err error) {
	at, err := inv.Installation(ctx)
	if err != nil {
		return list, nil, err
	}
	pool, err := pool.Open(ctx, pool.Config{URL: at.Database, MaxConns: 2, ApplicationName: "jobs"})
	if err != nil {
		return list, nil, err
	}
	return jobs.Operator{DB: pool}, pool.Close, nil
}

func listJobs(ctx context.Context, inv *Invocation, jobs jobs.Operator, f jobFlags) error {
	if f.state != "" {
		f.filter.States = strings.Split(f.state, ",")
	}
	list, err := jobs.List(ctx, f.filter)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(inv, list)
	}
	t := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tKIND\tNAME\tSTATE\tATTEMPT\tNEXT OR LAST\tERROR")
	for _, j := range list {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%d/%d\t%s\t%s\n", j.ID, j.Kind, j.Name, j.State, j.Attempt, j.MaxAttempts,
			j.Scheduled.UTC().Format(time.DateTime), firstLine(j.Error))
	}
	return t.Flush()
}

// firstLine returns the start of an error for a table.
func firstLine(text string) string {
	const most = 100
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func showJob(ctx context.Context, inv *Invocation, jobs jobs.Operator, id int64, f jobFlags) error {
	j, err := jobs.Get(ctx, id)
	if err != nil {
		return err
	}
	if !f.args {
		j.Args = nil
	}
	if f.json {
		return printJSON(inv, j)
	}
	t := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	line := func(name string, value any) { fmt.Fprintf(t, "%s\t%v\n", name, value) }
	line("id", j.ID)
	line("kind", strings.TrimSpace(j.Kind+" "+j.Name))
	line("state", j.State)
	line("queue, priority", fmt.Sprintf("%s, %d", j.Queue, j.Priority))
	line("attempts", fmt.Sprintf("%d of %d", j.Attempt, j.MaxAttempts))
	line("created", j.Created.UTC().Format(time.DateTime))
	line("scheduled", j.Scheduled.UTC().Format(time.DateTime))
	if j.Attempted != nil {
		line("last attempt", j.Attempted.UTC().Format(time.DateTime))
	}
	if j.Finished != nil {
		line("finished", j.Finished.UTC().Format(time.DateTime))
	}
	for _, e := range j.Errors {
		line(fmt.Sprintf("error %d", e.Attempt), e.At.UTC().Format(time.DateTime)+"  "+e.Error)
	}
	if f.args {
		line("arguments", string(j.Args))
	}
	return t.Flush()
}

// runJob runs a job, waits for the attempt and prints its result.
func runJob(ctx context.Context, inv *Invocation, jobs jobs.Operator, id int64, wait time.Duration) error {
	before, err := jobs.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := jobs.Retry(ctx, id); err != nil {
		return err
	}
	return awaitJob(ctx, inv, jobs, id, len(before.Errors), wait)
}

// awaitJob waits for the next attempt of a job. A failed attempt is an error.
func awaitJob(ctx context.Context, inv *Invocation, jobs jobs.Operator, id int64, failures int,
	wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	j, err := jobs.Await(ctx, id, failures)
	if err != nil {
		return fmt.Errorf("job %d has not ended: %w", id, err)
	}
	switch {
	case j.State == "completed":
		fmt.Fprintf(inv.Stdout, "job %d completed\n", id)
		return nil
	case j.State == "scheduled":
		fmt.Fprintf(inv.Stdout, "job %d was snoozed until %s\n", id, j.Scheduled.UTC().Format(time.DateTime))
		return nil
	}
	return fmt.Errorf("job %d is %s: %s", id, j.State, j.Error)
}

func printJSON(inv *Invocation, v any) error {
	e := json.NewEncoder(inv.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
