create table public.notes (
	id bigint generated always as identity primary key,
	owner uuid default auth.uid(),
	text text not null
);
alter table public.notes enable row level security;
create policy "own notes" on public.notes for select to authenticated using (owner = auth.uid());
grant select on public.notes to authenticated;
grant all on public.notes to service_role;
