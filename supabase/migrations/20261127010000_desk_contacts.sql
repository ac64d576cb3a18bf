-- Calls and messages between a reviewer and the person of a report. The desk sends nothing by itself: a reviewer calls or writes,
-- and then logs the outcome.

create type public.contact_channel as enum ('call', 'whatsapp', 'sms', 'visit', 'other');
comment on type public.contact_channel is 'Ways in which a reviewer reaches the person of a report.';
create type public.contact_outcome as enum ('reached', 'no_answer', 'call_later', 'wrong_number', 'declined', 'sent');
comment on type public.contact_outcome is 'What came of an attempt to reach a person.';

create table public.report_contacts (
  id bigint generated always as identity primary key,
  report_id uuid not null references public.reports (id) on delete cascade,
  author uuid,
  author_name text not null default '',
  channel public.contact_channel not null,
  outcome public.contact_outcome not null,
  template text,
  body text,
  created_at timestamptz not null default now(),
  constraint report_contacts_template_form check (template ~ '^[a-z]+(_[a-z]+)*$' and char_length(template) <= 50),
  constraint report_contacts_body_length check (btrim(body) <> '' and char_length(body) <= 2000)
);
comment on table public.report_contacts is 'Calls and messages about a report, with their outcome. They are added, not changed; they go with the report.';
comment on column public.report_contacts.id is 'Order of the contacts.';
comment on column public.report_contacts.report_id is 'The report.';
comment on column public.report_contacts.author is 'Account of the reviewer; empty for the command line.';
comment on column public.report_contacts.author_name is 'Mail address of the reviewer at that time.';
comment on column public.report_contacts.channel is 'How the reviewer tried to reach the person.';
comment on column public.report_contacts.outcome is 'What came of it.';
comment on column public.report_contacts.template is 'Name of the message that the reviewer began with, if any.';
comment on column public.report_contacts.body is 'What was said or agreed.';
comment on column public.report_contacts.created_at is 'When it was logged.';
create index report_contacts_report on public.report_contacts (report_id, id);

alter table public.staff_trail drop constraint staff_trail_action_known,
  add constraint staff_trail_action_known check (action in
    ('read', 'search', 'change', 'add', 'note', 'contact', 'forward', 'export', 'delete', 'retry', 'invite', 'role', 'remove', 'run'));

create function private.trail_contact() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.write_trail('contact', 'report', new.report_id::text,
    (select r.reference from public.reports as r where r.id = new.report_id),
    jsonb_build_object('channel', new.channel, 'outcome', new.outcome));
  return null;
end $$;
comment on function private.trail_contact() is 'Writes to the trail that a contact was logged, without its text; for triggers.';
revoke all on function private.trail_contact() from public;
create trigger report_contacts_sign before insert on public.report_contacts for each row execute function private.sign_note();
create trigger report_contacts_trail after insert on public.report_contacts for each row execute function private.trail_contact();
create trigger report_contacts_touch after insert on public.report_contacts for each row execute function private.touch_noted_report();

alter table public.report_contacts enable row level security;
revoke all on table public.report_contacts from public, anon, authenticated;
grant insert (report_id, channel, outcome, template, body) on table public.report_contacts to authenticated;
grant select, insert, delete on table public.report_contacts to service_role;
create policy "reviewers log contacts" on public.report_contacts
  for insert to authenticated with check ((select private.is_reviewer()));

-- What a case has besides its row. Later parts of a case are added here.
create function private.report_parts(report public.reports) returns jsonb
language sql stable set search_path = ''
as $$
  select jsonb_build_object(
    'duplicate_of', (select r.reference from public.reports as r where r.id = report.duplicate_of),
    'duplicate_id', report.duplicate_of,
    'notes', (select coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'author', n.author, 'author_name', n.author_name, 'body', n.body,
                'created_at', n.created_at) order by n.id), '[]') from public.report_notes as n where n.report_id = report.id),
    'contacts', (select coalesce(jsonb_agg(to_jsonb(c) - 'report_id' order by c.id), '[]')
                   from public.report_contacts as c where c.report_id = report.id))
$$;
comment on function private.report_parts(public.reports) is 'Notes, contacts and the original of a copy, for read_report.';
revoke all on function private.report_parts(public.reports) from public;

create function private.trail_read(report public.reports) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  if not exists (select from public.staff_trail as t where t.actor = auth.uid() and t.action = 'read'
                    and t.subject_id = report.id::text and t.at > now() - interval '10 minutes') then
    perform private.write_trail('read', 'report', report.id::text, report.reference);
  end if;
end $$;
comment on function private.trail_read(public.reports) is
  'Writes to the trail that the caller reads a report. One member who reads it again within ten minutes leaves one row.';
revoke all on function private.trail_read(public.reports) from public;

create or replace function public.read_report(name text) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  report public.reports;
begin
  perform private.require_reviewer();
  select r.* into report from public.reports as r where r.reference = upper(btrim(read_report.name));
  if not found then
    raise exception 'no report has this reference' using errcode = 'PT404';
  end if;
  perform private.trail_read(report);
  return to_jsonb(report) - '{idempotency_key,search_text}'::text[] || private.report_parts(report) || jsonb_build_object(
    'similar', (select coalesce(jsonb_agg(s order by s.created_at desc), '[]') from (
       select r.id, r.reference, r.status, r.product_name, r.region, r.district, r.created_at,
              r.id is not distinct from report.possible_duplicate_of or r.possible_duplicate_of = report.id as likely
         from public.reports as r
        where r.id <> report.id and (r.id = report.possible_duplicate_of or r.possible_duplicate_of = report.id or
              lower(btrim(r.product_name)) = lower(btrim(report.product_name))
              and r.created_at between report.created_at - interval '30 days' and report.created_at + interval '30 days')
        order by likely desc, r.created_at desc limit 6) as s));
end $$;
comment on function public.read_report(text) is
  'A whole report with its notes, contacts and similar reports. Writes to the trail who read it. Reviewers only.';
