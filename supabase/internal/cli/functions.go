package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/fnhost"
	"daawo/supabase/internal/fnhost/scaffold"
)

var functionsCommand = Command{
	Name:  "functions",
	Args:  "list|new|invoke|logs|serve [NAME] [FLAGS]",
	Short: "Write, call and watch edge functions",
	Long: `
list                 the functions of this program, with their limits and schedules
new NAME             write functions/NAME/ with a handler and a test, and register it
invoke NAME          call it on the running server (--body JSON, --method, --user-token TOKEN)
logs [NAME]          what the running server's functions logged (--follow)
serve                serve the functions alone, as daawo serve functions

  daawo functions new hello && daawo start --dev        then edit functions/hello/func.go and call it again`,
	Run: runFunctions,
}

func runFunctions(ctx context.Context, inv *Invocation) error {
	switch inv.action() {
	case "list":
		return listFunctions(inv)
	case "new":
		return newFunction(inv)
	case "invoke":
		return invokeFunction(ctx, inv)
	case "logs":
		return functionLogs(ctx, inv)
	case "serve":
		return services()["functions"](ctx, inv)
	}
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	return usagef("usage: daawo functions %s", inv.command.Args)
}

func listFunctions(inv *Invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	t := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tMETHODS\tVERIFY JWT\tTIMEOUT\tBODY\tAT ONCE\tSCHEDULE (UTC)")
	for _, name := range slices.Sorted(maps.Keys(inv.Functions)) {
		f := inv.Functions[name].WithDefaults()
		if f.Handler == nil {
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t%s\n", name, f.Schedule)
			continue
		}
		methods := "any"
		if len(f.Methods) > 0 {
			methods = strings.Join(f.Methods, ",")
		}
		fmt.Fprintf(t, "%s\t%s\t%v\t%v\t%d\t%d\t%s\n", name, methods, !f.NoVerifyJWT, f.Timeout, f.MaxBody, f.MaxConcurrent, f.Schedule)
	}
	return t.Flush()
}

func newFunction(inv *Invocation) error {
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	root := inv.workdir
	if root == "" {
		root = "."
	}
	written, err := scaffold.New(root, inv.args[0])
	if err != nil {
		return err
	}
	for _, file := range written {
		fmt.Fprintln(inv.Stdout, "wrote", file)
	}
	_, err = fmt.Fprintf(inv.Stdout, "It is served at /functions/v1/%s after the next build, and at once by daawo start --dev.\n", inv.args[0])
	return err
}

func invokeFunction(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	body := inv.flags.String("body", "", "`JSON` to send; - reads it from the standard input")
	method := inv.flags.String("method", http.MethodPost, "HTTP `method`")
	token := inv.flags.String("user-token", "", "call as the user of this `token`; as a visitor without it")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	content := []byte(*body)
	if *body == "-" {
		var err error
		if content, err = inv.readInput(ctx); err != nil {
			return err
		}
	}
	info, err := inv.status(ctx)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, *method, info.Get("API_URL")+"/functions/v1/"+inv.args[0], bytes.NewReader(content))
	if err != nil {
		return err
	}
	key := info.Get("ANON_KEY")
	if *token == "" {
		*token = key
	}
	req.Header.Set("Apikey", key)
	req.Header.Set("Authorization", "Bearer "+*token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	fmt.Fprintf(inv.Stderr, "%s (execution %s)\n", res.Status, res.Header.Get("Sb-Request-Id"))
	if _, err := io.Copy(inv.Stdout, res.Body); err != nil {
		return err
	}
	if res.StatusCode >= 400 {
		return fmt.Errorf("%s answered %s", inv.args[0], res.Status)
	}
	return nil
}

func functionLogs(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	follow := inv.flags.Bool("follow", false, "go on with what is logged from now on")
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	data, err := inv.running()
	if err != nil {
		return err
	}
	for next := int64(0); ; {
		var lines []fnhost.Line
		if err := app.Command(ctx, data, "/functions/logs", &lines); err != nil {
			return err
		}
		for _, l := range lines {
			if l.N >= next && (len(inv.args) == 0 || ofFunction(l.Text, inv.args[0])) {
				fmt.Fprintln(inv.Stdout, l.Text)
			}
			next = max(next, l.N+1)
		}
		if !*follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// ofFunction says whether a logged line is of the function.
func ofFunction(line, name string) bool { return strings.Contains(line+" ", " function="+name+" ") }
