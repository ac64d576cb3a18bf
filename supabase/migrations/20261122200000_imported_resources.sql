-- An existing table of resources can be imported: its colours and addresses are kept as they are. The pages take a default colour for
-- a class that their style sheet does not have, and offer no download for a text that is no address.

alter table public.resources
  drop constraint resources_color_class_known,
  drop constraint resources_file_url_own,
  add constraint resources_color_class_length check (color_class !~ '[[:cntrl:]]' and char_length(color_class) <= 200),
  -- Addresses that run a script in the page that opens them are refused; browsers ignore control characters and blanks in a scheme.
  add constraint resources_file_url_form check (btrim(file_url) <> '' and file_url !~ '[[:cntrl:]]' and char_length(file_url) <= 2000
    and file_url !~* '^[[:space:]]*(javascript|data|vbscript|blob):');

comment on column public.resources.color_class is 'Colour of the icon''s ground: a class. The page takes its first colour for one that it does not know.';
comment on column public.resources.file_url is 'Address of the file, on this site or elsewhere, or # while it is still to come.';
