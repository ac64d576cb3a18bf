package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"daawo/supabase/internal/admin"
)

var resourcesCommand = command{
	name:  "resources",
	args:  "list|add|edit|publish [ID] [FLAGS]",
	short: "Look after the resources that visitors download",
	long: `
list              every resource with its downloads, the hidden ones too (--json)
add               add a hidden resource: --title and --category, and what edit takes
edit ID           change --title, --title-so, --description, --description-so, --category, --category-so, --icon, --color,
                  --featured true|false, or the file: --file PATH
publish ID        show it to visitors; --off hides it

  daawo resources add --title "Safe storage" --title-so "Kaydinta daawada" --category Safety --icon Shield --file leaflet.pdf
  daawo resources publish 5eed0000-0000-4000-8000-000000000013`,
	run: runResources,
}

func runResources(ctx context.Context, inv *invocation) error {
	verb := inv.action()
	inv.dataFlag()
	switch verb {
	case "list":
		return listResources(ctx, inv)
	case "add", "edit":
		return editResource(ctx, inv, verb == "add")
	case "publish":
		return publishResource(ctx, inv)
	}
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	return usagef("usage: daawo resources %s", inv.command.args)
}

func listResources(ctx context.Context, inv *invocation) error {
	asJSON := inv.flags.Bool("json", false, "print JSON")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	desk, err := inv.desk(ctx)
	if err != nil {
		return err
	}
	defer desk.Close()
	list, err := desk.Resources(ctx)
	if err != nil {
		return err
	}
	if *asJSON {
		return printJSON(inv.Stdout, list)
	}
	t := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tTITLE\tCATEGORY\tDOWNLOADS\tSHOWN\tFEATURED\tFILE")
	for _, r := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.ID, shorten(r.Title, 44), r.Category, r.DownloadCount, yes(r.IsActive), yes(r.IsFeatured), r.FileURL)
	}
	return t.Flush()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func editResource(ctx context.Context, inv *invocation, add bool) error {
	values := map[string]string{}
	for _, name := range admin.Editable() {
		inv.flags.Func(name, "`text` of "+name, func(s string) error {
			values[name] = s
			return nil
		})
	}
	file := inv.flags.String("file", "", "upload this `file` and offer it")
	n := 1
	if add {
		n = 0
	}
	if err := inv.parseMixed(n, n); err != nil {
		return err
	}
	if add && (values["title"] == "" || values["category"] == "") {
		return usagef("a new resource needs --title and --category")
	}
	if len(values) == 0 && *file == "" {
		return usagef("say what to change; `daawo resources --help` lists it")
	}
	desk, err := inv.desk(ctx)
	if err != nil {
		return err
	}
	defer desk.Close()
	if !add {
		return desk.EditResource(ctx, inv.args[0], values, *file)
	}
	id, err := desk.AddResource(ctx, values, *file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(inv.Stdout, "added %s; show it with: daawo resources publish %s\n", id, id)
	return err
}

func publishResource(ctx context.Context, inv *invocation) error {
	off := inv.flags.Bool("off", false, "hide it instead")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	desk, err := inv.desk(ctx)
	if err != nil {
		return err
	}
	defer desk.Close()
	return desk.PublishResource(ctx, inv.args[0], !*off)
}
