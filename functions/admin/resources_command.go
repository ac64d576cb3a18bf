package admin

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"daawo/supabase/stack"
)

const resourcesUsage = "list|add|edit|publish [ID] [FLAGS]"

var resourcesCommand = stack.Command{
	Name:  "resources",
	Args:  resourcesUsage,
	Short: "List, add, edit and publish the resources that visitors download",
	Long: `
list              all resources with their download counts, including hidden ones (--json)
add               add a hidden resource; needs --title and --category, other flags as for edit
edit ID           change --title, --title-so, --description, --description-so, --category, --category-so, --icon, --color,
                  --featured true|false, or the file: --file PATH; "" clears an optional text. An icon is one of
                  ` + strings.Join(icons, ", ") + `
publish ID        show a resource to visitors; --off hides it

  daawo resources add --title "Safe storage" --title-so "Kaydinta daawada" --category Safety --icon Shield --file leaflet.pdf
  daawo resources publish 5eed0000-0000-4000-8000-000000000013`,
	Run: withClient("resources", resourcesUsage, map[string]verb{
		"list": {0, listResources}, "add": {0, addResource}, "edit": {1, editResource}, "publish": {1, publishResource},
	}),
}

func listResources(call *stack.Call) (check func() error, do work) {
	asJSON := call.Flags().Bool("json", false, "print JSON")
	return nil, func(ctx context.Context, c *Client) error {
		list, err := c.Resources(ctx)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(call.Stdout(), list)
		}
		t := tabwriter.NewWriter(call.Stdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "ID\tTITLE\tCATEGORY\tDOWNLOADS\tSHOWN\tFEATURED\tFILE")
		for _, r := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.ID, shorten(r.Title, 44), r.Category, r.DownloadCount,
				yes(r.IsActive), yes(r.IsFeatured), r.FileURL)
		}
		return t.Flush()
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// valueFlags declares a flag for each value of a resource, and one for its file.
func valueFlags(call *stack.Call) (values map[string]string, file *string) {
	values = map[string]string{}
	for _, name := range Editable() {
		call.Flags().Func(name, "`text` of "+name, func(s string) error {
			values[name] = s
			return nil
		})
	}
	return values, call.Flags().String("file", "", "`file` to upload")
}

func addResource(call *stack.Call) (check func() error, do work) {
	values, file := valueFlags(call)
	check = func() error {
		if values["title"] == "" || values["category"] == "" {
			return stack.Usagef("a new resource needs --title and --category")
		}
		return nil
	}
	return check, func(ctx context.Context, c *Client) error {
		id, err := c.AddResource(ctx, values, *file)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(call.Stdout(), "added %s; publish it with: daawo resources publish %s\n", id, id)
		return err
	}
}

func editResource(call *stack.Call) (check func() error, do work) {
	values, file := valueFlags(call)
	check = func() error {
		if len(values) == 0 && *file == "" {
			return stack.Usagef("no change given; `daawo resources --help` lists the flags")
		}
		return nil
	}
	return check, func(ctx context.Context, c *Client) error {
		if err := c.EditResource(ctx, call.Arguments()[0], values, *file); err != nil {
			return err
		}
		_, err := fmt.Fprintf(call.Stdout(), "%s is changed\n", call.Arguments()[0])
		return err
	}
}

func publishResource(call *stack.Call) (check func() error, do work) {
	off := call.Flags().Bool("off", false, "hide it instead")
	return nil, func(ctx context.Context, c *Client) error {
		if err := c.PublishResource(ctx, call.Arguments()[0], !*off); err != nil {
			return err
		}
		state := "published"
		if *off {
			state = "hidden"
		}
		_, err := fmt.Fprintf(call.Stdout(), "%s is %s\n", call.Arguments()[0], state)
		return err
	}
}
