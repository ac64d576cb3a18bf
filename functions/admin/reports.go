package admin

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// statuses are the statuses of a report, in the order of its review.
var statuses = []string{"new", "reviewing", "actioned", "closed"}

// Report is a report as a reviewer reads it.
type Report struct {
	ID                string     `db:"id" json:"id"`
	Reference         string     `db:"reference" json:"reference"`
	Status            string     `db:"status" json:"status"`
	CreatedAt         time.Time  `db:"created_at" json:"created_at"`
	Language          string     `db:"language" json:"language"`
	ProductName       string     `db:"product_name" json:"product_name"`
	BatchNumber       *string    `db:"batch_number" json:"batch_number"`
	ExpiryDate        *time.Time `db:"expiry_date" json:"expiry_date"`
	WhereBought       *string    `db:"where_bought" json:"where_bought"`
	IssueDescription  string     `db:"issue_description" json:"issue_description"`
	Location          *string    `db:"location" json:"location"`
	Region            *string    `db:"region" json:"region"`
	District          *string    `db:"district" json:"district"`
	Name              *string    `db:"name" json:"name"`
	Phone             *string    `db:"phone" json:"phone"`
	PhoneE164         *string    `db:"phone_e164" json:"phone_e164"`
	PhotoURL          *string    `db:"photo_url" json:"photo_url"`
	PhotoMetadata     *string    `db:"photo_metadata" json:"photo_metadata"`               // pending, removed or kept
	PossibleDuplicate *string    `db:"possible_duplicate_of" json:"possible_duplicate_of"` // reference
	ReviewerNotes     *string    `db:"reviewer_notes" json:"reviewer_notes"`
}

const selectReports = `
select r.id::text, r.reference, r.status::text, r.created_at, r.language::text, r.product_name,
       r.batch_number, r.expiry_date,
       r.where_bought, r.issue_description, r.location, r.region, r.district, r.name,
       r.phone, r.phone_e164, r.photo_url,
       r.photo_metadata::text,
       d.reference as possible_duplicate_of, r.reviewer_notes
  from public.reports as r
  left join public.reports as d on d.id = r.possible_duplicate_of
`

// unknownStatus returns the error for a status that is not in statuses.
func unknownStatus(status string) error {
	return fmt.Errorf("unknown status %q; use %s", status, strings.Join(statuses, ", "))
}

// Filter selects reports. Zero fields select all.
type Filter struct {
	Status string
	Region string
	Since  time.Time
	Limit  int // 0 means no limit
}

// Reports returns the selected reports, newest first.
func (c *Client) Reports(ctx context.Context, f Filter) ([]Report, error) {
	if f.Status != "" && !slices.Contains(statuses, f.Status) {
		return nil, unknownStatus(f.Status)
	}
	var found []Report
	err := c.tx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, selectReports+`
 where ($1 = '' or r.status::text = $1) and ($2 = '' or lower(r.region) = lower($2)) and r.created_at >= $3
 order by r.created_at desc, r.reference
 limit nullif($4, 0)`, f.Status, f.Region, f.Since, f.Limit)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[Report])
		return err
	})
	return found, err
}

// Report returns one report by its id or its reference. NormalReference normalises the latter.
func (c *Client) Report(ctx context.Context, name string) (Report, error) {
	var r Report
	err := c.tx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, selectReports+` where r.reference = $1 or r.id::text = $2`, NormalReference(name),
			strings.ToLower(name))
		if err != nil {
			return err
		}
		r, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Report])
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return r, fmt.Errorf("report %s: %w", name, ErrNotFound)
	}
	return r, err
}

// notBase32 matches characters that no reference contains, such as blanks.
var notBase32 = regexp.MustCompile(`[^0-9A-Z]`)

// NormalReference corrects a reference that was read aloud or copied by hand: case, blanks, a
// missing prefix, and letters that look like digits, which no reference contains.
func NormalReference(s string) string {
	s = notBase32.ReplaceAllString(strings.ToUpper(s), "")
	if len(s) == 10 {
		s = strings.TrimPrefix(s, "DW")
	}
	s = strings.NewReplacer("O", "0", "I", "1", "L", "1").Replace(s)
	if len(s) != 8 {
		return s
	}
	return "DW-" + s[:4] + "-" + s[4:]
}

// PhotoLink returns a link to the photo of the report that is valid for an hour, or "" if the
// report has no photo.
func (c *Client) PhotoLink(ctx context.Context, r Report) (string, error) {
	if r.PhotoURL == nil {
		return "", nil
	}
	return c.signedLink(ctx, "report-photos", *r.PhotoURL, time.Hour)
}

// SetReport changes the status and the notes of a report. It does not change a value that is nil.
func (c *Client) SetReport(ctx context.Context, name string, status, notes *string) (Report, error) {
	if status != nil && !slices.Contains(statuses, *status) {
		return Report{}, unknownStatus(*status)
	}
	r, err := c.Report(ctx, name)
	if err != nil {
		return r, err
	}
	err = c.tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
update public.reports
   set status = coalesce($2::text::public.report_status, status),
       reviewer_notes = case when $3::text is null then reviewer_notes else nullif($3, '') end
 where id = $1`, r.ID, status, notes)
		return err
	})
	if err != nil {
		return r, err
	}
	return c.Report(ctx, r.ID)
}

// DeleteReport deletes a report and its photo permanently. It deletes the photo first: if the
// second step fails, the report still exists and the command can be repeated. The trail keeps the
// reason.
func (c *Client) DeleteReport(ctx context.Context, name, reason string) (Report, error) {
	r, err := c.Report(ctx, name)
	if err != nil {
		return r, err
	}
	if r.PhotoURL != nil {
		body, err := json.Marshal(map[string][]string{"prefixes": {*r.PhotoURL}})
		if err != nil {
			return r, err
		}
		if err := c.storage(ctx, http.MethodDelete, "object/report-photos", "application/json", body, nil); err != nil {
			return r, err
		}
	}
	return r, c.tx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select set_config('app.reason', $1, true)`, reason); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `delete from public.reports where id = $1`, r.ID)
		return err
	})
}

// TrailRead writes to the trail that a report was read.
func (c *Client) TrailRead(ctx context.Context, r Report) error {
	return c.tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select private.write_trail('read', 'report', $1, $2)`, r.ID, r.Reference)
		return err
	})
}

// WholeReports is Reports for output with all fields. It writes to the trail how many were read.
func (c *Client) WholeReports(ctx context.Context, f Filter) ([]Report, error) {
	reports, err := c.Reports(ctx, f)
	if err != nil {
		return nil, err
	}
	return reports, c.tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select private.write_trail('export', 'report', null, null, jsonb_build_object('reports', $1::int))`, len(reports))
		return err
	})
}

// WriteCSV writes reports as CSV for a spreadsheet.
func WriteCSV(w io.Writer, reports []Report) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"reference", "received_at", "status", "language", "product_name", "batch_number",
		"expiry_date", "where_bought", "issue_description", "location", "region", "district", "name", "phone",
		"phone_e164", "photo", "possible_duplicate_of", "reviewer_notes", "id"})
	for _, r := range reports {
		expiry := ""
		if r.ExpiryDate != nil {
			expiry = r.ExpiryDate.Format(time.DateOnly)
		}
		row := []string{r.Reference, r.CreatedAt.UTC().Format(time.RFC3339), r.Status, r.Language, r.ProductName,
			value(r.BatchNumber), expiry, value(r.WhereBought), r.IssueDescription, value(r.Location), value(r.Region),
			value(r.District), value(r.Name), value(r.Phone), value(r.PhoneE164), value(r.PhotoURL),
			value(r.PossibleDuplicate), value(r.ReviewerNotes), r.ID}
		for i := range row {
			row[i] = spreadsheetText(row[i])
		}
		_ = c.Write(row)
	}
	c.Flush()
	return c.Error()
}

// figure matches numbers, days, times, shares and amounts, also with the name of a month. A
// spreadsheet shows them as another text, except the plain ones that keptFigure matches.
var (
	figure = regexp.MustCompile(`(?i)^([\d\s.,:/()%$€£e-]+|` +
		`\d*\W?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\W?\d*)$`)
	keptFigure = regexp.MustCompile(`^(0|[1-9]\d{0,14}|\d{4}-\d\d(-\d\d)?)$`)
)

// spreadsheetText prevents a spreadsheet from running a cell as a formula, because visitors type
// the texts, and from changing a batch such as 0012 or 12E5.
func spreadsheetText(cell string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(cell,
		func(c rune) bool { return c == ' ' || unicode.Is(unicode.Cf, c) }))
	formula := cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠﹢﹣﹦﹫", first)
	changed := strings.ContainsAny(cell, "0123456789") && figure.MatchString(cell) && !keptFigure.MatchString(cell)
	if formula || changed {
		return "'" + cell
	}
	return cell
}
