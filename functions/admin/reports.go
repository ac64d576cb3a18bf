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

	"github.com/jackc/pgx/v5"
)

// Statuses of a report, in the order of its review.
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
select r.id::text, r.reference, r.status::text, r.created_at, r.language::text, r.product_name, r.batch_number, r.expiry_date,
       r.where_bought, r.issue_description, r.location, r.region, r.district, r.name, r.phone, r.phone_e164, r.photo_url,
       r.photo_metadata::text,
       d.reference as possible_duplicate_of, r.reviewer_notes
  from public.reports as r
  left join public.reports as d on d.id = r.possible_duplicate_of
`

// Filter chooses reports. Zero fields choose all.
type Filter struct {
	Status string
	Region string
	Since  time.Time
	Limit  int // 0 means no limit
}

// Reports lists reports, newest first.
func (c *Client) Reports(ctx context.Context, f Filter) ([]Report, error) {
	if f.Status != "" && !slices.Contains(statuses, f.Status) {
		return nil, fmt.Errorf("status %q: it is one of %s", f.Status, strings.Join(statuses, ", "))
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

// Report finds one report by its reference, however it was written down, or by its id.
func (c *Client) Report(ctx context.Context, name string) (Report, error) {
	var r Report
	err := c.tx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, selectReports+` where r.reference = $1 or r.id::text = $2`, NormalReference(name), strings.ToLower(name))
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

var notBase32 = regexp.MustCompile(`[^0-9A-Z]`)

// NormalReference undoes what happens to a reference that is read aloud or copied by hand: case, blanks, a missing prefix,
// and the letters that its alphabet leaves out because they look like digits.
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

// PhotoLink opens the report's photo for an hour; "" when it has none.
func (c *Client) PhotoLink(ctx context.Context, r Report) (string, error) {
	if r.PhotoURL == nil {
		return "", nil
	}
	return c.signedLink(ctx, "report-photos", *r.PhotoURL, time.Hour)
}

// SetReport changes status and notes of a report; nil leaves one as it is.
func (c *Client) SetReport(ctx context.Context, name string, status, notes *string) (Report, error) {
	if status != nil && !slices.Contains(statuses, *status) {
		return Report{}, fmt.Errorf("status %q: it is one of %s", *status, strings.Join(statuses, ", "))
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

// DeleteReport deletes a report and its photo for good. The photo goes first: should something fail in between, the
// report is still there and the command can be repeated.
func (c *Client) DeleteReport(ctx context.Context, name string) (Report, error) {
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
		_, err := tx.Exec(ctx, `delete from public.reports where id = $1`, r.ID)
		return err
	})
}

// WriteCSV writes reports for a spreadsheet.
func WriteCSV(w io.Writer, reports []Report) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"reference", "received_at", "status", "language", "product_name", "batch_number", "expiry_date", "where_bought",
		"issue_description", "location", "region", "district", "name", "phone", "phone_e164", "photo", "possible_duplicate_of", "reviewer_notes", "id"})
	for _, r := range reports {
		expiry := ""
		if r.ExpiryDate != nil {
			expiry = r.ExpiryDate.Format(time.DateOnly)
		}
		row := []string{r.Reference, r.CreatedAt.UTC().Format(time.RFC3339), r.Status, r.Language, r.ProductName, text(r.BatchNumber), expiry,
			text(r.WhereBought), r.IssueDescription, text(r.Location), text(r.Region), text(r.District), text(r.Name), text(r.Phone),
			text(r.PhoneE164), text(r.PhotoURL), text(r.PossibleDuplicate), text(r.ReviewerNotes), r.ID}
		for i := range row {
			row[i] = harmless(row[i])
		}
		_ = c.Write(row)
	}
	c.Flush()
	return c.Error()
}

// harmless keeps a spreadsheet from running a cell as a formula: a visitor may have typed one.
func harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
