package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/functions/jobs/queue"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// noticeMails is the default of Options.NoticeMails.
const noticeMails = 60

// Limits of a digest.
const (
	digestNotices = 1000 // further notices are in the next one
	digestFirst   = 5    // titles in the subject
)

// digestLock is the advisory lock that makes workers decide one after the other whether they send a
// mail.
const digestLock = 0x64696765_7374

// workNotifyByMail sends the mail of a notice. Beyond NoticeMails in an hour it waits until the
// next full hour. The first job that runs then sends the notices of all that wait as one mail. The
// metadata of a job says what it does: mailed is the time of its mail, waiting marks a job that
// waits, digest is the id of the job that sends its notice, and notices are those that a job sends
// for others. It holds them because the others, which are completed, are deleted after
// keepCompleted.
func (b *Outbox) workNotifyByMail(ctx context.Context, job *river.Job[queue.MailNotice]) error {
	if b.DB == nil {
		return b.mailNotice(ctx, job.Args.Notice, messageID(job.JobRow))
	}
	var notices []edge.Notice
	wait := time.Duration(0)
	err := pgx.BeginFunc(ctx, b.DB.Pgx(), func(tx pgx.Tx) (err error) {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, int64(digestLock)); err != nil {
			return err
		}
		wait, notices, err = b.admitMail(ctx, tx, job.ID)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("jobs: %w", err)
	case wait > 0:
		return river.JobSnooze(wait)
	case len(notices) == 0:
		return b.mailNotice(ctx, job.Args.Notice, messageID(job.JobRow))
	}
	return b.mailDigest(ctx, append([]edge.Notice{job.Args.Notice}, notices...), messageID(job.JobRow))
}

// admitMail decides about the mail of a job: it returns how long the job has to wait, or the
// notices that its mail includes.
func (b *Outbox) admitMail(ctx context.Context, tx pgx.Tx, id int64) (wait time.Duration, notices []edge.Notice,
	err error) {
	var mailed, waiting bool
	var sent int
	var untilHour float64
	const q = `
select coalesce((select metadata ? 'mailed' from river.river_job where id = $1), false),
       coalesce((select metadata ? 'waiting' from river.river_job where id = $1), false),
       (select count(*) from river.river_job
         where kind = 'notify_by_mail' and metadata ? 'mailed' and (metadata ->> 'mailed')::timestamptz > now() - interval '1 hour'),
       extract(epoch from date_trunc('hour', now()) + interval '1 hour' - now())::float8`
	if err := tx.QueryRow(ctx, q, id).Scan(&mailed, &waiting, &sent, &untilHour); err != nil {
		return 0, nil, err
	}
	if !mailed && sent >= b.NoticeMails {
		_, err := tx.Exec(ctx, `update river.river_job set metadata = metadata || '{"waiting": true}' where id = $1`,
			id)
		return time.Duration(untilHour*float64(time.Second)) + time.Second, nil, err
	}
	if !mailed {
		if _, err := tx.Exec(ctx,
			`update river.river_job set metadata = metadata || jsonb_build_object('mailed', now()) where id = $1`,
			id); err != nil {
			return 0, nil, err
		}
	}
	if waiting && !mailed {
		const gather = `
with gathered as (
  update river.river_job as j
     set state = 'completed', finalized_at = now(), metadata = j.metadata || jsonb_build_object('digest', $1::bigint)
    from (select id from river.river_job
           where kind = 'notify_by_mail' and id <> $1 and metadata ? 'waiting' and not metadata ? 'mailed'
             and state in ('available', 'scheduled', 'retryable')
           order by id limit $2 for update skip locked) as other
   where j.id = other.id
  returning j.id, j.args
)
update river.river_job
   set metadata = metadata || jsonb_build_object('notices', (select jsonb_agg(args order by id) from gathered))
 where id = $1 and exists (select from gathered)`
		if _, err := tx.Exec(ctx, gather, id, digestNotices); err != nil {
			return 0, nil, err
		}
	}
	// A job that versions before 2026-11-28 made a digest has no notices in its metadata.
	rows, err := tx.Query(ctx, `
with notices as (select metadata -> 'notices' as list from river.river_job where id = $1)
select args
  from (select n.value as args, n.ordinality as place
          from notices, jsonb_array_elements(list) with ordinality as n
        union all
        select j.args, j.id
          from notices, river.river_job as j
         where list is null and j.kind = 'notify_by_mail' and j.metadata -> 'digest' = to_jsonb($1::bigint)) as found
 order by place`, id)
	if err != nil {
		return 0, nil, err
	}
	notices, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n edge.Notice, err error) {
		var raw []byte
		if err = row.Scan(&raw); err == nil {
			err = json.Unmarshal(raw, &n)
		}
		return n, err
	})
	return 0, notices, err
}

// mailDigest sends several notices in one mail.
func (b *Outbox) mailDigest(ctx context.Context, notices []edge.Notice, id string) error {
	var text strings.Builder
	for _, n := range notices {
		one, err := b.noticeLines(ctx, n)
		if err != nil {
			return err
		}
		text.WriteString(oneLine(n.Title) + "\n" + one + "\n")
	}
	b.sign(&text)
	subject := fmt.Sprintf("%d notices: ", len(notices))
	for i, n := range notices[:min(len(notices), digestFirst)] {
		if i > 0 {
			subject += ", "
		}
		subject += oneLine(n.Title)
	}
	if len(notices) > digestFirst {
		subject += " …"
	}
	return b.Mail(ctx, mail.Message{To: b.Admins, Subject: subject, Text: text.String(), ID: "notice-" + id})
}
