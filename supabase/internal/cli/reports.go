package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"daawo/supabase/internal/admin"
)

var reportsCommand = command{
	name:  "reports",
	args:  "list|show|set|export|delete [REFERENCE] [FLAGS]",
	short: "Read and work on the reports that visitors sent",
	long: `
list                 the newest reports (--status, --region, --since, --limit, --json)
show REFERENCE       one report in full, with a link to its photo that works for an hour
set REFERENCE        change --status (new, reviewing, actioned, closed) and --notes
export               every report as CSV (--status, --region, --since, --output FILE)
delete REFERENCE     delete a report and its photo for good (--yes does not ask)

A reference may be typed as it is heard: dw 7k3m 9qxa means DW-7K3M-9QXA.`,
	run: atDesk(map[string]verb{
		"list": {0, listReports}, "show": {1, showReport}, "set": {1, setReport}, "export": {0, exportReports}, "delete": {1, deleteReport},
	}),
}

// filterFlags declares the flags that choose reports.
func (inv *invocation) filterFlags(f *admin.Filter) {
	inv.flags.StringVar(&f.Status, "status", "", "only with this `status`")
	inv.flags.StringVar(&f.Region, "region", "", "only of this `region`")
	inv.flags.Func("since", "only since a `day` (2026-08-31) or for a time (48h, 7d)", func(s string) (err error) {
		f.Since, err = parseSince(s, time.Now())
		return err
	})
}

// parseSince reads a day or how long ago.
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
	return time.Time{}, fmt.Errorf("%q is neither a day such as 2026-08-31 nor a time such as 48h or 7d", s)
}

func listReports(inv *invocation) (check func() error, work deskWork) {
	f := admin.Filter{}
	inv.filterFlags(&f)
	inv.flags.IntVar(&f.Limit, "limit", 50, "at most so `many`; 0 for all")
	asJSON := inv.flags.Bool("json", false, "print JSON")
	return nil, func(ctx context.Context, desk *admin.Desk) error {
		reports, err := desk.Reports(ctx, f)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(inv.Stdout, reports)
		}
		return printReports(inv.Stdout, reports)
	}
}

func printReports(w io.Writer, reports []admin.Report) error {
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
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Reference, r.CreatedAt.Local().Format("2006-01-02 15:04"), r.Status,
			shorten(r.ProductName, 40), value(r.Region), photo, value(r.PossibleDuplicate))
	}
	return t.Flush()
}

func showReport(inv *invocation) (check func() error, work deskWork) {
	asJSON := inv.flags.Bool("json", false, "print JSON")
	return nil, func(ctx context.Context, desk *admin.Desk) error {
		r, err := desk.Report(ctx, inv.args[0])
		if err != nil {
			return err
		}
		link, err := desk.PhotoLink(ctx, r)
		return inv.printShown(r, link, err, *asJSON)
	}
}

// printShown prints a report and the link to its photo, or why there is none: beside the JSON, where only an address belongs.
func (inv *invocation) printShown(r admin.Report, link string, noLink error, asJSON bool) error {
	if noLink != nil && asJSON {
		fmt.Fprintln(inv.Stderr, "daawo: no link to the photo:", noLink)
	}
	if asJSON {
		return printJSON(inv.Stdout, struct {
			admin.Report
			PhotoLink string `json:"photo_link,omitempty"`
		}{r, link})
	}
	if noLink != nil {
		link = "(no link: " + noLink.Error() + ")"
	}
	return printReport(inv.Stdout, r, link)
}

// printReport prints a report for a reader. What a visitor typed is shown without control characters, which could do
// things to a terminal.
func printReport(w io.Writer, r admin.Report, link string) error {
	expiry := ""
	if r.ExpiryDate != nil {
		expiry = r.ExpiryDate.Format(time.DateOnly)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range [][2]string{
		{"Reference", r.Reference}, {"Received", r.CreatedAt.Local().Format("2006-01-02 15:04 MST")}, {"Status", r.Status},
		{"Possible duplicate of", value(r.PossibleDuplicate)}, {"Product", r.ProductName}, {"Batch number", value(r.BatchNumber)},
		{"Expiry date", expiry}, {"Where bought", value(r.WhereBought)}, {"Location", value(r.Location)}, {"Name", value(r.Name)},
		{"Phone", value(r.Phone)}, {"Phone (international)", value(r.PhoneE164)}, {"Language", r.Language}, {"Photo", link}, {"Photo's metadata", metadataNote(r.PhotoMetadata)},
		{"Id", r.ID},
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

// metadataNote says what a reviewer has to mind with a photo, "" for nothing.
func metadataNote(state *string) string {
	switch value(state) {
	case "kept":
		return "KEPT: the file could not be read and may still tell where it was taken; pass it on with care"
	case "pending":
		return "not yet removed: the file may still tell where it was taken"
	}
	return ""
}

func setReport(inv *invocation) (check func() error, work deskWork) {
	status := inv.flags.String("status", "", "new `status`: new, reviewing, actioned or closed")
	notes := inv.flags.String("notes", "", "new `text` of the reviewers' notes; empty deletes them")
	check = func() error {
		if !inv.given("status") {
			status = nil
		}
		if !inv.given("notes") {
			notes = nil
		}
		if status == nil && notes == nil {
			return usagef("say what to change: --status or --notes")
		}
		return nil
	}
	return check, func(ctx context.Context, desk *admin.Desk) error {
		r, err := desk.SetReport(ctx, inv.args[0], status, notes)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(inv.Stdout, "%s is %s\n", r.Reference, r.Status)
		return err
	}
}

func exportReports(inv *invocation) (check func() error, work deskWork) {
	var f admin.Filter
	inv.filterFlags(&f)
	output := inv.flags.String("output", "", "write to this `file`, readable by its owner only")
	return nil, func(ctx context.Context, desk *admin.Desk) error {
		reports, err := desk.Reports(ctx, f)
		if err != nil {
			return err
		}
		if *output == "" {
			return admin.WriteCSV(inv.Stdout, reports)
		}
		file, err := createPrivate(*output)
		if err != nil {
			return err
		}
		if err := errors.Join(admin.WriteCSV(file, reports), file.Close()); err != nil {
			return err
		}
		_, err = fmt.Fprintf(inv.Stderr, "%d reports written to %s\n", len(reports), *output)
		return err
	}
}

func deleteReport(inv *invocation) (check func() error, work deskWork) {
	yes := inv.flags.Bool("yes", false, "do not ask")
	return nil, func(ctx context.Context, desk *admin.Desk) error {
		r, err := desk.Report(ctx, inv.args[0])
		if err != nil {
			return err
		}
		if !*yes && !inv.confirm(ctx, fmt.Sprintf("Delete %s (%s) and its photo for good?", r.Reference, shorten(r.ProductName, 40))) {
			return fmt.Errorf("nothing was deleted")
		}
		if _, err := desk.DeleteReport(ctx, r.ID); err != nil {
			return err
		}
		_, err = fmt.Fprintf(inv.Stdout, "%s is deleted\n", r.Reference)
		return err
	}
}

// confirm asks for a yes. An interrupt is a no.
func (inv *invocation) confirm(ctx context.Context, question string) bool {
	fmt.Fprintf(inv.Stderr, "%s [y/N] ", question)
	answer, _ := until(ctx, func() (string, error) {
		return bufio.NewReader(inv.Stdin).ReadString('\n') // the end of input is a no
	})
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// readInput reads all of the standard input.
func (inv *invocation) readInput(ctx context.Context) ([]byte, error) {
	return until(ctx, func() ([]byte, error) { return io.ReadAll(inv.Stdin) })
}

// until gives what read gives, but waits no longer than for the end of ctx: who reads a terminal cannot be stopped.
func until[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// printable leaves out control characters but line ends.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && (c < ' ' || c >= 0x7f && c < 0xa0) {
			return -1
		}
		return c
	}, s)
}

// shorten cuts a text to so many characters of one line.
func shorten(s string, most int) string {
	runes := []rune(strings.Join(strings.Fields(printable(s)), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}
