package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/base/tempdir"
	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/functions/deploy"
	"daawo/supabase/internal/functions/host"
)

// tokenVariable holds the deploy token, which must not be on a command line.
const tokenVariable = "DEPLOY_TOKEN"

// deployTarget is the server that a command deploys to: the one on the data folder, or one at a
// URL.
type deployTarget struct {
	inv   *Invocation
	url   string
	data  string
	token string
}

// deployFlags declares the flags that select the server.
func deployFlags(inv *Invocation) *string {
	inv.dataFlag()
	return inv.flags.String("url", "", "`address` of another server; the variable "+tokenVariable+
		" must hold its deploy token")
}

// targetOf returns the selected server, after parse.
func targetOf(inv *Invocation, address string) (deployTarget, error) {
	t := deployTarget{inv: inv, url: strings.TrimRight(address, "/")}
	if t.url != "" {
		var ok bool
		if t.token, ok = inv.Getenv(tokenVariable); !ok {
			return t, usagef("--url needs the deploy token in the variable %s; `daawo functions token create` on the server makes one", tokenVariable)
		}
		u, err := url.Parse(t.url)
		if err != nil || u.Host == "" {
			return t, usagef("%q is not the address of a server", address)
		}
		local := u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.")
		if u.Scheme != "https" && !local {
			return t, usagef("%s: a deploy token is sent over https only", t.url)
		}
		return t, nil
	}
	_, data, err := inv.installation()
	t.data = data
	return t, err
}

// send sends a request and decodes the JSON of its reply.
func (t deployTarget) send(ctx context.Context, method, path string, content io.Reader, into any) error {
	if t.url == "" {
		return control.CommandWith(ctx, t.data, method, "/functions/deploy"+path, content, into)
	}
	req, err := http.NewRequestWithContext(ctx, method, t.url+"/functions/v1/_deploy"+path, content)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+t.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<22))
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusNotFound {
		return errors.New("the server does not accept this deploy token: it may have expired, or the server allows none")
	}
	if res.StatusCode != http.StatusOK {
		var said struct{ Message string }
		if json.Unmarshal(body, &said) == nil && said.Message != "" {
			return errors.New(said.Message)
		}
		return fmt.Errorf("the server replied %s: %s", res.Status, bytes.TrimSpace(body))
	}
	return json.Unmarshal(body, into)
}

// deployFunctions compiles the functions and deploys them.
func deployFunctions(ctx context.Context, inv *Invocation) error {
	address := deployFlags(inv)
	message := inv.flags.String("m", "", "`message` for the list of versions")
	bundle := inv.flags.String("bundle", "", "deploy this `file`, which --output made, instead of compiling")
	output := inv.flags.String("output", "", "only compile, into this `file`")
	force := inv.flags.Bool("force", false, "deploy although jobs wait that the new version does not have")
	noCheck := inv.flags.Bool("no-check", false, "do not check the types of functions in TypeScript")
	inv.ignore([]string{"no-verify-jwt", "use-api", "use-docker", "prune"}, "import-map", "jobs", "j")
	inv.refuse("remote", "deploys to supabase.com; --url names a server of this program")
	inv.refuse("project-ref", "deploys to supabase.com; --url names a server of this program")
	if err := inv.parseMixed(0, 1<<10); err != nil {
		return err
	}
	if len(inv.args) > 0 {
		inv.warn("a version has all functions, so all are deployed and not only %s", strings.Join(inv.args, ", "))
	}
	t, err := targetOf(inv, *address)
	if err != nil {
		return err
	}
	var server deploy.State
	if err := t.send(ctx, http.MethodGet, "/", nil, &server); err != nil {
		return err
	}
	if server.Protocol != host.Protocol && *bundle == "" {
		return fmt.Errorf("the server is another release: its protocol is %d, this program's %d", server.Protocol,
			host.Protocol)
	}
	file := cmp.Or(*bundle, *output)
	if *bundle == "" {
		dir, err := tempdir.New("", "deploy")
		if err != nil {
			return err
		}
		defer func() { _ = dir.Remove() }() // Sweep removes what is left
		file = cmp.Or(file, filepath.Join(dir.Path, "bundle"))
		progress := newActivity(inv, inv.Stderr)
		progress.begin(fmt.Sprintf("compiling the functions for %s/%s", server.OS, server.Arch))
		defer progress.cancel()
		if err := buildBundle(ctx, inv, file, dir.Path, server, *noCheck); err != nil {
			return err
		}
		progress.end()
		if *output != "" {
			return nil
		}
	}
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	q := url.Values{"message": {*message}, "force": {fmt.Sprint(*force)}}
	var v deploy.Version
	if err := t.send(ctx, http.MethodPost, "/?"+q.Encode(), content, &v); err != nil {
		return fmt.Errorf("not deployed, version %s goes on: %w", server.Current, err)
	}
	fmt.Fprintf(inv.Stdout, "deployed version %s: functions: %d, %.1f MB\n", v.ID, len(v.Functions),
		float64(v.Size)/1e6)
	return nil
}

// buildBundle writes the functions of the working folder, in both languages, to a file. dir is for
// temporary files.
func buildBundle(ctx context.Context, inv *Invocation, file, dir string, server deploy.State, noCheck bool) error {
	home := cmp.Or(inv.workdir, ".")
	_, err := os.Stat(filepath.Join(home, "functions", "functions.go"))
	inGo := err == nil
	if inGo {
		err = child.BuildBundle(ctx, home, file, server.OS, server.Arch)
	} else {
		err = os.WriteFile(file, nil, 0o600)
	}
	if err != nil {
		return err
	}
	o, err := scriptOptions(inv, dir)
	if err != nil {
		return err
	}
	o.NoCheck = noCheck
	scripts := 0
	if o.Root != "" {
		if scripts, err = deno.AddToBundle(ctx, o, file); err != nil {
			return fmt.Errorf("the functions do not compile:\n%w", err)
		}
	}
	if !inGo && scripts == 0 {
		return fmt.Errorf("there are no functions: neither %s nor functions in supabase/functions",
			filepath.Join(home, "functions", "functions.go"))
	}
	return nil
}

// scriptOptions returns the options for the functions in TypeScript of the working folder.
func scriptOptions(inv *Invocation, dir string) (o deno.BundleOptions, err error) {
	project, err := inv.project()
	if err != nil || project.dir == "" {
		return o, err
	}
	c, err := inv.config()
	if err != nil {
		return o, err
	}
	store, err := addedParts(inv)
	if err != nil {
		return o, err
	}
	home, err := filepath.Abs(project.home())
	if err != nil {
		return o, err
	}
	search, _ := inv.Getenv("PATH")
	finder := deno.Finder{Path: c.DenoPath, Home: home, Search: search, Added: store}
	return deno.BundleOptions{
		Root: project.dir, Settings: c.Functions, Dir: dir, Deno: finder.Find, Getenv: inv.Getenv,
	}, nil
}

// functionVersions lists the deployed versions.
func functionVersions(ctx context.Context, inv *Invocation) error {
	address := deployFlags(inv)
	asJSON := inv.flags.Bool("json", false, "print JSON")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	t, err := targetOf(inv, *address)
	if err != nil {
		return err
	}
	var server deploy.State
	if err := t.send(ctx, http.MethodGet, "/", nil, &server); err != nil {
		return err
	}
	if *asJSON {
		return printJSON(inv, server)
	}
	table := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VERSION\tDEPLOYED (UTC)\tFUNCTIONS\tMB\tSHA-256\tMESSAGE")
	for _, v := range server.Versions {
		mark := ""
		if v.Current {
			mark = " *"
		}
		fmt.Fprintf(table, "%s%s\t%s\t%d\t%.1f\t%s\t%s\n", v.ID, mark, v.Deployed.UTC().Format(time.DateTime),
			len(v.Functions), float64(v.Size)/1e6, v.SHA256[:12], firstLine(v.Message))
	}
	if server.Current == deploy.BuiltIn {
		fmt.Fprintln(table, "built-in *\t\t\t\t\t")
	}
	return table.Flush()
}

// rollbackFunctions switches to another version.
func rollbackFunctions(ctx context.Context, inv *Invocation) error {
	address := deployFlags(inv)
	force := inv.flags.Bool("force", false, "roll back although jobs wait that the version does not have")
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	t, err := targetOf(inv, *address)
	if err != nil {
		return err
	}
	q := url.Values{"force": {fmt.Sprint(*force)}}
	if len(inv.args) == 1 {
		q.Set("to", inv.args[0])
	}
	var v deploy.Version
	if err := t.send(ctx, http.MethodPost, "/rollback?"+q.Encode(), nil, &v); err != nil {
		return fmt.Errorf("not rolled back: %w", err)
	}
	fmt.Fprintf(inv.Stdout, "version %s serves now\n", v.ID)
	return nil
}

// functionToken makes or revokes the deploy token.
func functionToken(ctx context.Context, inv *Invocation) error {
	verb := inv.Verb()
	inv.dataFlag()
	days := inv.flags.Int("days", 90, "how many `days` the token lives, 366 at most")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	switch verb {
	case "create":
		var made control.DeployToken
		if err := inv.ask(ctx, fmt.Sprintf("/functions/token?days=%d", *days), &made); err != nil {
			return err
		}
		fmt.Fprintln(inv.Stdout, made.Token)
		inv.warn("valid until %s; it is not shown again, an older token is invalid now, and its holder can run programs on this server",
			made.Expires.UTC().Format(time.DateTime))
		return nil
	case "revoke":
		if err := inv.ask(ctx, "/functions/token/revoke", &struct{}{}); err != nil {
			return err
		}
		fmt.Fprintln(inv.Stdout, "no machine can deploy with a token now")
		return nil
	}
	return inv.usage()
}
