-- A first table: each user sees and changes the own rows only.
create table public.todos (
  id bigint generated always as identity primary key,
  user_id uuid not null default auth.uid() references auth.users on delete cascade,
  title text not null check (title <> ''),
  done boolean not null default false,
  created_at timestamptz not null default now()
);

create index on public.todos (user_id);

alter table public.todos enable row level security;

create policy "users read their todos" on public.todos for select to authenticated using (user_id = (select auth.uid()));
create policy "users add their todos" on public.todos for insert to authenticated with check (user_id = (select auth.uid()));
create policy "users change their todos" on public.todos for update to authenticated using (user_id = (select auth.uid()));
create policy "users delete their todos" on public.todos for delete to authenticated using (user_id = (select auth.uid()));
