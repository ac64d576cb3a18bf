-- A resource may name any icon: an imported table may have others. The pages draw the default one for a name that
-- they do not know.

-- Triggers that name the column would refuse its new type.
drop trigger resources_updated_at on public.resources;
drop trigger resources_version on public.resources;
drop trigger resources_trail_update on public.resources;
drop trigger resources_tell_change on public.resources;

alter table public.resources
  alter column icon_name type text using icon_name::text,
  add constraint resources_icon_name_form check (icon_name !~ '[[:cntrl:]]' and char_length(icon_name) <= 100);
drop type public.resource_icon;
comment on column public.resources.icon_name is 'Icon of the card. The page draws a default one when it is empty or unknown.';

create trigger resources_updated_at
  before update of title, title_so, description, description_so, category, category_so, icon_name, color_class,
    file_url, file_size, file_type, is_active, is_featured, guide, file_language on public.resources
  for each row execute function private.touch();
create trigger resources_version
  before update of title, title_so, description, description_so, category, category_so, icon_name, color_class,
    file_url, file_size, file_type, is_active, is_featured, guide, file_language on public.resources
  for each row execute function private.count_resource_version();
create trigger resources_trail_update
  after update of title, title_so, description, description_so, category, category_so, icon_name, color_class,
    file_url, file_size, file_type, is_active, is_featured, guide, file_language, created_at on public.resources
  for each row execute function private.trail_resource();
create trigger resources_tell_change
  after update of title, title_so, description, description_so, category, category_so, icon_name, color_class,
    file_url, file_size, file_type, is_active, is_featured, guide, file_language, created_at on public.resources
  for each statement execute function private.tell_editors();
