-- Notices to authorities, each with its day and its member; and cases for a file in the format E2B(R3).

create type public.notice_channel as enum ('paper', 'mail', 'portal', 'e2b', 'other');
comment on type public.notice_channel is 'Ways in which a notice reaches an authority.';

create table public.report_notices (
  id bigint generated always as identity primary key,
  report_id uuid not null references public.reports (id) on delete cascade,
  author uuid,
  author_name text not null default '',
  recipient text not null,
  channel public.notice_channel not null,
  sent_on date not null default current_date,
  receipt text,
  created_at timestamptz not null default now(),
  constraint report_notices_recipient_given check (btrim(recipient) <> '' and char_length(recipient) <= 200),
  constraint report_notices_receipt_length check (btrim(receipt) <> '' and char_length(receipt) <= 100),
  constraint report_notices_sent_on_range check (sent_on between date '2020-01-01' and (created_at at time zone 'UTC')::date + 1)
);
comment on table public.report_notices is 'Notices of a report to authorities. They are added, not changed; they go with the report.';
comment on column public.report_notices.id is 'Order of the notices.';
comment on column public.report_notices.report_id is 'The report.';
comment on column public.report_notices.author is 'Account of the reviewer; empty for the command line.';
comment on column public.report_notices.author_name is 'Mail address of the reviewer at that time.';
comment on column public.report_notices.recipient is 'The authority.';
comment on column public.report_notices.channel is 'How the notice was sent.';
comment on column public.report_notices.sent_on is 'Day on which it was sent.';
comment on column public.report_notices.receipt is 'Number that the authority gave, if any.';
comment on column public.report_notices.created_at is 'When it was recorded.';
create index report_notices_report on public.report_notices (report_id, id);

alter table public.staff_trail drop constraint staff_trail_action_known,
  add constraint staff_trail_action_known check (action in
    ('read', 'search', 'change', 'add', 'note', 'contact', 'link', 'forward', 'notice', 'export', 'delete', 'retry', 'invite', 'role', 'remove',
     'run'));

create function private.trail_notice() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.write_trail('notice', 'report', new.report_id::text,
    (select r.reference from public.reports as r where r.id = new.report_id),
    jsonb_build_object('recipient', new.recipient, 'notice', new.channel, 'sent_on', new.sent_on));
  return null;
end $$;
comment on function private.trail_notice() is 'Writes to the trail that a notice went to an authority; for triggers.';
revoke all on function private.trail_notice() from public;
create trigger report_notices_sign before insert on public.report_notices for each row execute function private.sign_note();
create trigger report_notices_trail after insert on public.report_notices for each row execute function private.trail_notice();
create trigger report_notices_touch after insert on public.report_notices for each row execute function private.touch_noted_report();

alter table public.report_notices enable row level security;
revoke all on table public.report_notices from public, anon, authenticated;
grant insert (report_id, recipient, channel, sent_on, receipt) on table public.report_notices to authenticated;
grant select, insert, delete on table public.report_notices to service_role;
create policy "reviewers record notices" on public.report_notices
  for insert to authenticated with check ((select private.is_reviewer()));

create or replace function private.report_parts(report public.reports) returns jsonb
language sql stable set search_path = ''
as $$
  select jsonb_build_object(
    'duplicate_of', (select r.reference from public.reports as r where r.id = report.duplicate_of),
    'duplicate_id', report.duplicate_of,
    'possible_duplicate', (select r.reference from public.reports as r where r.id = report.possible_duplicate_of),
    'notes', (select coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'author', n.author, 'author_name', n.author_name, 'body', n.body,
                'created_at', n.created_at) order by n.id), '[]') from public.report_notes as n where n.report_id = report.id),
    'contacts', (select coalesce(jsonb_agg(to_jsonb(c) - 'report_id' order by c.id), '[]')
                   from public.report_contacts as c where c.report_id = report.id),
    'notices', (select coalesce(jsonb_agg(to_jsonb(n) - 'report_id' order by n.id), '[]')
                  from public.report_notices as n where n.report_id = report.id))
$$;
comment on function private.report_parts(public.reports) is 'Notes, contacts, notices and the original of a copy, for read_report.';

create function public.export_cases(ids uuid[]) returns setof jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  report public.reports;
begin
  perform private.require_owner();
  if cardinality(ids) > 200 then
    raise exception 'at most 200 reports can be exported at once' using errcode = '54000';
  end if;
  for report in select r.* from public.reports as r where r.id = any (ids) order by r.created_at, r.id loop
    perform private.write_trail('export', 'report', report.id::text, report.reference, '{"format": "E2B(R3)"}');
    return next to_jsonb(report) - '{idempotency_key,search_text,batch_key,shop_key}'::text[];
  end loop;
end $$;
comment on function public.export_cases(uuid[]) is
  'Reports for a file to an authority. Each leaves a line in the trail. Owners only.';
revoke all on function public.export_cases(uuid[]) from public, anon, authenticated, service_role;
grant execute on function public.export_cases(uuid[]) to authenticated;
