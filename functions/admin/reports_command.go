package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"daawo/supabase/stack"
)

const reportsUsage = "list|show|set|export|delete [REFERENCE] [FLAGS]"

var reportsCommand = stack.Command{
	Name:  "reports",
	Args:  reportsUsage,
	Short: "Read, edit and export the reports of visitors",
	Long: `
list                 the newest reports (--status, --region, --since, --limit, --json)
show REFERENCE       one report with all fields and a link to its photo, which is valid for an hour (--json)
set REFERENCE        change --status (new, reviewing, actioned, closed) and --notes
export               every report as CSV (--status, --region, --since, --output FILE)
delete REFERENCE     delete a report and its photo permanently (--reason TEXT for the trail; --yes does not ask)

Case and blanks in a reference do not matter: "dw 7k3m 9qxa" means DW-7K3M-9QXA.`,
	Run: withClient("reports", reportsUsage, map[string]verb{
		"list": {0, listReports}, "show": {1, showReport}, "set": {1, setReport}, "export": {0, exportReports},
		"delete": {1, deleteReport},
	}),
}

// filterFlags declares the flags that select reports.
func filterFlags(call *stack.Call, f *Filter) {
	call.Flags().StringVar(&f.Status, "status", "", "only with this `status`")
	call.Flags().StringVar(&f.Region, "region", "", "only of this `region`")
	call.Flags().Func("since", "only since this `day` (2026-08-31) or within this time (48h, 7d)",
		func(s string) (err error) {
			f.Since, err = parseSince(s, time.Now())
			return err
		})
}

// parseSince parses a day, or a duration before now.
func parseSince(s string, now time.Time) (time.Time, error) {
	if day, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		return day, nil
	}
	var days int
	if n, err := fmt.Sscanf(s, "%dd", &days); err == nil && n == 1 && fmt.Sprintf("%dd", days) == s && days > 0 {
		return now.AddDate(0, 0, -days), nil
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is neither a day such as 2026-08-31 nor a duration such as 48h or 7d", s)
}

func listReports(call *stack.Call) (check func() error, do work) {
	f := Filter{}
	filterFlags(call, &f)
	call.Flags().IntVar(&f.Limit, "limit", 50, "maximum `number` of reports; 0 for all")
	asJSON := call.Flags().Bool("json", false, "print JSON")
	return nil, func(ctx context.Context, c *Client) error {
		if *asJSON { // all fields
			reports, err := c.WholeReports(ctx, f)
			if err != nil {
				return err
			}
			return printJSON(call.Stdout(), reports)
		}
		reports, err := c.Reports(ctx, f)
		if err != nil {
			return err
		}
		return printReports(call.Stdout(), reports)
	}
}

func printReports(w io.Writer, reports []Report) error {
	if len(reports) == 0 {
		_, err := fmt.Fprintln(w, "no reports")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "REFERENCE\tRECEIVED\tSTATUS\tPRODUCT\tREGION\tPHOTO\tDUPLICATE OF")
	for _, r := range reports {
		photo := ""
		if r.PhotoURL != nil {
			photo = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Reference, r.CreatedAt.Local().Format("2006-01-02 15:04"),
			r.Status, shorten(r.ProductName, 40), value(r.Region), photo, value(r.PossibleDuplicate))
	}
	return t.Flush()
}

func showReport(call *stack.Call) (check func() error, do work) {
	asJSON := call.Flags().Bool("json", false, "print JSON")
	return nil, func(ctx context.Context, c *Client) error {
		r, err := c.Report(ctx, call.Arguments()[0])
		if err != nil {
			return err
		}
		if err := c.TrailRead(ctx, r); err != nil {
			return err
		}
		link, err := c.PhotoLink(ctx, r)
		return printShown(call.Stdout(), call.Stderr(), r, link, err, *asJSON)
	}
}

// printShown prints a report with the link to its photo, or why there is no link. With JSON it
// prints the reason to diagnostics, because photo_link must be an address or absent.
func printShown(out, diagnostics io.Writer, r Report, link string, noLink error, asJSON bool) error {
	if noLink != nil && asJSON {
		fmt.Fprintln(diagnostics, "daawo: no link to the photo:", noLink)
	}
	if asJSON {
		return printJSON(out, struct {
			Report
			PhotoLink string `json:"photo_link,omitempty"`
		}{r, link})
	}
	if noLink != nil {
		link = "(no link: " + noLink.Error() + ")"
	}
	return printReport(out, r, link)
}

// printReport prints a report for a reader. What a visitor typed is shown without control
// characters, which could do things to a terminal.
func printReport(w io.Writer, r Report, link string) error {
	expiry := ""
	if r.ExpiryDate != nil {
		expiry = r.ExpiryDate.Format(time.DateOnly)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range [][2]string{
		{"Reference", r.Reference}, {"Received", r.CreatedAt.Local().Format("2006-01-02 15:04 MST")},
		{"Status", r.Status}, {"Possible duplicate of", value(r.PossibleDuplicate)}, {"Product", r.ProductName},
		{"Batch number", value(r.BatchNumber)}, {"Expiry date", expiry}, {"Where bought", value(r.WhereBought)},
		{"Location", value(r.Location)}, {"Name", value(r.Name)}, {"Phone", value(r.Phone)},
		{"Phone (international)", value(r.PhoneE164)}, {"Language", r.Language}, {"Photo", link},
		{"Photo's metadata", metadataNote(r.PhotoMetadata)}, {"Id", r.ID},
	} {
		if f[1] != "" {
			fmt.Fprintf(t, "%s:\t%s\n", f[0], printable(f[1]))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", printable(r.IssueDescription))
	if notes := value(r.ReviewerNotes); err == nil && notes != "" {
		_, err = fmt.Fprintf(w, "\nNotes: %s\n", printable(notes))
	}
	return err
}

// metadataNote returns a warning about the metadata of a photo, or "" if it was removed.
func metadataNote(state *string) string {
	switch value(state) {
	case "kept":
		return "KEPT: the file could not be read and may still tell where it was taken; pass it on with care"
	case "pending":
		return "not yet removed: the file may still tell where it was taken"
	}
	return ""
}

func setReport(call *stack.Call) (check func() error, do work) {
	status := call.Flags().String("status", "", "new `status`: new, reviewing, actioned or closed")
	notes := call.Flags().String("notes", "", "new `text` of the reviewers' notes; empty deletes them")
	check = func() error {
		if !call.Given("status") {
			status = nil
		}
		if !call.Given("notes") {
			notes = nil
		}
		if status == nil && notes == nil {
			return stack.Usagef("no change given; set --status or --notes")
		}
		return nil
	}
	return check, func(ctx context.Context, c *Client) error {
		r, err := c.SetReport(ctx, call.Arguments()[0], status, notes)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(call.Stdout(), "%s is %s\n", r.Reference, r.Status)
		return err
	}
}

func exportReports(call *stack.Call) (check func() error, do work) {
	var f Filter
	filterFlags(call, &f)
	output := call.Flags().String("output", "", "write to this `file`, readable by its owner only")
	return nil, func(ctx context.Context, c *Client) error {
		reports, err := c.WholeReports(ctx, f)
		if err != nil {
			return err
		}
		if *output == "" {
			return WriteCSV(call.Stdout(), reports)
		}
		file, err := call.CreatePrivate(*output)
		if err != nil {
			return err
		}
		_, err = file.WriteString("\ufeff") // spreadsheets then read UTF-8
		if err := errors.Join(err, WriteCSV(file, reports), file.Close()); err != nil {
			return err
		}
		_, err = fmt.Fprintf(call.Stderr(), "%d reports written to %s\n", len(reports), *output)
		return err
	}
}

func deleteReport(call *stack.Call) (check func() error, do work) {
	yes := call.Flags().Bool("yes", false, "do not ask")
	reason := call.Flags().String("reason", "", "`reason` for the trail, without personal data")
	return nil, func(ctx context.Context, c *Client) error {
		r, err := c.Report(ctx, call.Arguments()[0])
		if err != nil {
			return err
		}
		if !*yes && !call.Confirm(ctx,
			fmt.Sprintf("Delete %s (%s) and its photo permanently?", r.Reference, shorten(r.ProductName, 40))) {
			return errors.New("not confirmed, so nothing was deleted; --yes does not ask")
		}
		if _, err := c.DeleteReport(ctx, r.ID, *reason); err != nil {
			return err
		}
		_, err = fmt.Fprintf(call.Stdout(), "%s is deleted\n", r.Reference)
		return err
	}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// value returns *s, or "" for nil.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// printable removes control characters except line feeds.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && (c < ' ' || c >= 0x7f && c < 0xa0) {
			return -1
		}
		return c
	}, s)
}

// shorten returns a text on one line, cut to limit characters.
func shorten(s string, limit int) string {
	runes := []rune(strings.Join(strings.Fields(printable(s)), " "))
	if len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return string(runes)
}
