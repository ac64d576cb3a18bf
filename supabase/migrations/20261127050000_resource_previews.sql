-- A card shows the first page of its file. The desk draws it in the editor's browser when the file is uploaded, because only a
-- browser can read every file that visitors can.

alter table public.resources
  add column preview_url text,
  add constraint resources_preview_url_own check (preview_url ~ '^/[^/\\[:cntrl:]][^\\[:cntrl:]]*$' and char_length(preview_url) <= 500);
comment on column public.resources.preview_url is 'Path of a picture of the file''s first page on this site: WebP, or PNG where the editor''s browser writes no WebP.';

grant insert (preview_url), update (preview_url) on table public.resources to authenticated;

update storage.buckets set allowed_mime_types = array_append(allowed_mime_types, 'image/webp')
 where id = 'resources' and not 'image/webp' = any (allowed_mime_types);
