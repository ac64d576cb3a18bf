-- The log of the messages that the function of auth's hook send_sms has sent. Numbers are masked.
-- Only service_role and the owner of the database read it; there is no policy for users.
create table public.sms_deliveries (
  id         text primary key,
  created_at timestamptz not null default now(),
  phone      text not null,
  status     text not null default 'sending' check (status in ('sending', 'sent', 'failed')),
  sender     text,
  message_id text,
  attempts   jsonb not null default '[]'
);
alter table public.sms_deliveries enable row level security;
revoke all on public.sms_deliveries from anon, authenticated;
grant select, insert, update, delete on public.sms_deliveries to service_role;
create index sms_deliveries_created_at on public.sms_deliveries (created_at);
comment on table public.sms_deliveries is 'Text messages with codes: when, by which sender, and why a sender refused.';
comment on column public.sms_deliveries.id is 'The id of the hook''s call; a repeated call sends nothing.';
comment on column public.sms_deliveries.phone is 'The number; only its first three and last two digits are readable.';
comment on column public.sms_deliveries.sender is 'The sender that accepted the message.';
comment on column public.sms_deliveries.message_id is 'The sender''s id of the message.';
comment on column public.sms_deliveries.attempts is 'One object per attempt: sender, error, milliseconds.';
