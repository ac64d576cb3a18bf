-- Storage: the functions that list objects and multipart uploads. Names, parameters, results and volatility are
-- storage-api's, because clients and storage-api itself call them; the bodies are ours.

set local role supabase_storage_admin;

-- The folder of a key below a prefix, with a final delimiter. Null if the key is directly below the prefix.
-- get_common_prefix('a/b/c', 'a/', '/') = a/b/
create or replace function storage.get_common_prefix(p_key text, p_prefix text, p_delimiter text) returns text
language sql immutable as $$
  select left(p_key, length(p_prefix) + length(p_delimiter) - 1
                     + nullif(strpos(substr(p_key, length(p_prefix) + 1), p_delimiter), 0))
$$;

-- One page of an S3 listing: objects below the prefix, and one row without an id per folder (common prefix). It walks
-- the index (bucket_id, name collate "C") and skips each folder that it has returned, so the cost depends on the rows of
-- the page, not on the objects in the folders. One query returns all objects up to the next folder; its window function
-- counts the folders so far, and the scan ends at the first. Folders, and the first objects after one, are read row by row.
-- A name with chr(1114111), the last code point, sorts after all names with the same beginning. The cursor (next_token,
-- else start_after) is the last name of the previous page. It is a folder if it ends with the delimiter or if no object
-- has exactly that name.
create or replace function storage.list_objects_with_delimiter(
  _bucket_id text, prefix_param text, delimiter_param text, max_keys integer default 100,
  start_after text default '', next_token text default '', sort_order text default 'asc'
) returns table (
  name text, id uuid, metadata jsonb, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz
)
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  last_char  constant text := chr(1114111);
  wanted     integer := coalesce(max_keys, 100);
  prefix     text := coalesce(prefix_param, '');
  descending boolean := lower(coalesce(sort_order, 'asc')) <> 'asc';
  after      text := coalesce(nullif(next_token, ''), start_after, '');
  seek       text;
  folder     text;
  fetched    integer;
  in_run     boolean := true;        -- the next entries are returned by one query
  run_after  constant integer := 32; -- so many objects in a row begin a run
  batch      refcursor;
  found      record;
begin
  if after = '' then
    seek := case when descending then prefix || last_char else prefix end;
  else
    if right(after, length(delimiter_param)) <> delimiter_param
       and not exists (select from storage.objects o where o.bucket_id = _bucket_id and o.name = after) then
      if exists (select from storage.objects o
                  where o.bucket_id = _bucket_id
                    and o.name collate "C" > after || delimiter_param
                    and o.name collate "C" < after || delimiter_param || last_char) then
        after := after || delimiter_param;
      end if;
    end if;
    if descending then
      seek := after;
    elsif right(after, length(delimiter_param)) = delimiter_param then
      seek := greatest(after || last_char collate "C", prefix);
    else
      seek := greatest(after || chr(1) collate "C", prefix);
    end if;
  end if;

  while wanted > 0 loop
    if in_run then
      in_run := false;
      if descending then
        return query
          select e.name, e.id, e.metadata, e.updated_at, e.created_at, e.last_accessed_at
            from (select o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at,
                         count(nullif(strpos(substr(o.name, length(prefix) + 1), delimiter_param), 0))
                           over (order by o.name collate "C" desc rows unbounded preceding) as folders
                    from storage.objects o
                   where o.bucket_id = _bucket_id and o.name collate "C" < seek and o.name collate "C" >= prefix) e
           where e.folders < 1 limit wanted;
      else
        return query
          select e.name, e.id, e.metadata, e.updated_at, e.created_at, e.last_accessed_at
            from (select o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at,
                         count(nullif(strpos(substr(o.name, length(prefix) + 1), delimiter_param), 0))
                           over (order by o.name collate "C" rows unbounded preceding) as folders
                    from storage.objects o
                   where o.bucket_id = _bucket_id and o.name collate "C" >= seek and o.name collate "C" < prefix || last_char) e
           where e.folders < 1 limit wanted;
      end if;
      get diagnostics fetched = row_count;
      wanted := wanted - fetched;
      exit when wanted = 0;
      if fetched > 0 and descending then
        select o.name into seek from storage.objects o
         where o.bucket_id = _bucket_id and o.name collate "C" < seek
         order by o.name collate "C" desc limit 1 offset fetched - 1;
      elsif fetched > 0 then
        select o.name || chr(1) into seek from storage.objects o
         where o.bucket_id = _bucket_id and o.name collate "C" >= seek
         order by o.name collate "C" limit 1 offset fetched - 1;
      end if;
    end if;
    folder := null;
    fetched := 0;
    if descending then
      open batch no scroll for
        select o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at
          from storage.objects o
         where o.bucket_id = _bucket_id and o.name collate "C" < seek
         order by o.name collate "C" desc
         limit 33; -- run_after and the row that begins the run; a constant, so that the kept plan follows the index
    else
      open batch no scroll for
        select o.name, o.id, o.metadata, o.updated_at, o.created_at, o.last_accessed_at
          from storage.objects o
         where o.bucket_id = _bucket_id and o.name collate "C" >= seek
         order by o.name collate "C"
         limit 33; -- run_after and the row that begins the run; a constant, so that the kept plan follows the index
    end if;
    while wanted > 0 loop
      fetch batch into found;
      exit when found.name is null or not starts_with(found.name, prefix);
      in_run := fetched = run_after;
      exit when in_run;
      fetched := fetched + 1;
      folder := storage.get_common_prefix(found.name, prefix, delimiter_param);
      wanted := wanted - 1;
      if folder is not null then
        list_objects_with_delimiter.name := left(folder, -length(delimiter_param));
        list_objects_with_delimiter.id := null;
        list_objects_with_delimiter.metadata := null;
        list_objects_with_delimiter.updated_at := null;
        list_objects_with_delimiter.created_at := null;
        list_objects_with_delimiter.last_accessed_at := null;
        return next;
        seek := case when descending then folder else folder || last_char end;
        exit;
      end if;
      list_objects_with_delimiter.name := found.name;
      list_objects_with_delimiter.id := found.id;
      list_objects_with_delimiter.metadata := found.metadata;
      list_objects_with_delimiter.updated_at := found.updated_at;
      list_objects_with_delimiter.created_at := found.created_at;
      list_objects_with_delimiter.last_accessed_at := found.last_accessed_at;
      return next;
      seek := case when descending then found.name else found.name || chr(1) end;
    end loop;
    close batch;
    exit when folder is null and not in_run; -- no name is left below the prefix, or the page is complete
  end loop;
end $$;

-- The listing of POST /object/list: pages by offset, ignores case, returns names relative to the prefix and folders
-- without an id. Sorted by name, it walks the index on lower(name) like the function above. Sorted by a time, it reads
-- the whole prefix. The caller has escaped prefix and search as patterns. levels is unused and stays for old callers.
-- Objects up to the next folder are a run, as above. Names that differ in case only have the same key and are in one run.
-- A page at depth skips objects in blocks, up to the next folder or to the last name of the block.
create or replace function storage.search(
  prefix text, bucketname text, limits integer default 100, levels integer default 1, offsets integer default 0,
  search text default '', sortcolumn text default 'name', sortorder text default 'asc'
) returns table (
  name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz, metadata jsonb
)
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  last_char  constant text := chr(1114111);
  whole      text := coalesce(prefix, '') || coalesce(search, '');
  lowered    text := lower(whole);
  base       integer := length(coalesce(prefix, ''));
  to_skip    integer := greatest(coalesce(offsets, 0), 0);
  wanted     integer := least(coalesce(limits, 100), 1500);
  descending boolean := lower(coalesce(sortorder, 'asc')) <> 'asc';
  least_skip constant integer := 64; -- fewer are skipped row by row
  block      integer := least_skip;
  in_blocks  boolean := true;        -- the next entries are objects, not folders
  by_rows    boolean := false;       -- too many names differ only in case
  depth      integer := coalesce(array_length(string_to_array(whole, '/'), 1), 1); -- path segments of an object that is no folder
  in_run     boolean := true;        -- the next entries are returned by one query
  run_after  constant integer := 32; -- so many objects in a row begin a run
  singles    integer;
  this_key   text;
  last_key   text;
  entries    integer;
  next_seek  text;
  last_name  text;
  seek       text;
  folder     text;
  batch      refcursor;
  found      record;
begin
  if lower(sortcolumn) in ('updated_at', 'created_at', 'last_accessed_at') then
    return query execute format(
      $q$
        select folder, null::uuid, null::timestamptz, null::timestamptz, null::timestamptz, null::jsonb
          from (select distinct array_to_string(o.path_tokens[$1:$2], '/') as folder
                  from storage.objects o
                 where o.bucket_id = $4 and o.name ilike $3 || '%%' and array_length(o.path_tokens, 1) <> $2
                 order by folder %1$s) folders
        union all
        select * from (
          select array_to_string(o.path_tokens[$1:$2], '/'), o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata
            from storage.objects o
           where o.bucket_id = $4 and o.name ilike $3 || '%%' and array_length(o.path_tokens, 1) = $2
           order by o.%2$I %1$s) leaves
        limit $5 offset $6
      $q$, case when descending then 'desc' else 'asc' end, lower(sortcolumn))
    using coalesce(array_length(string_to_array(coalesce(prefix, ''), '/'), 1), 1),
          coalesce(array_length(string_to_array(whole, '/'), 1), 1), whole, bucketname, wanted, to_skip;
    return;
  end if;

  seek := case when descending then lowered || last_char else lowered end;
  while wanted > 0 loop
    folder := null;
    if in_blocks and to_skip >= least_skip then
      block := least(block, to_skip + 1);
      if descending then
        select count(*), max(b.key) filter (where b.is_folder), min(b.key) into entries, next_seek, last_name
          from (select lower(o.name) collate "C" as key, array_length(o.path_tokens, 1) > depth as is_folder
                  from storage.objects o
                 where o.bucket_id = bucketname and lower(o.name) collate "C" < seek and lower(o.name) collate "C" >= lowered
                 order by 1 desc limit block) b;
      else
        select count(*), min(b.key) filter (where b.is_folder), max(b.key) into entries, next_seek, last_name
          from (select lower(o.name) collate "C" as key, array_length(o.path_tokens, 1) > depth as is_folder
                  from storage.objects o
                 where o.bucket_id = bucketname and lower(o.name) collate "C" >= seek
                   and lower(o.name) collate "C" < lowered || last_char
                 order by 1 limit block) b;
      end if;
      in_blocks := next_seek is null;
      exit when in_blocks and entries < block; -- there is no later entry
      next_seek := coalesce(next_seek, last_name);
      -- Count again if the block holds a folder, or may end between two names that differ in case only.
      if not in_blocks or (select count(*) > 1 from storage.objects o where o.bucket_id = bucketname and lower(o.name) collate "C" = last_name) then
        select count(*) into entries from storage.objects o
         where o.bucket_id = bucketname
           and lower(o.name) collate "C" >= case when descending then next_seek || chr(1) else seek end
           and lower(o.name) collate "C" < case when descending then seek else next_seek end;
        by_rows := in_blocks and entries = 0;
      else
        entries := entries - 1;
      end if;
      if entries > 0 then
        to_skip := to_skip - entries;
        seek := case when descending then next_seek || chr(1) else next_seek end;
        block := 2 * least(block, 4096);
        continue;
      end if;
      in_blocks := false;
      block := least_skip;
    end if;
    if in_run and to_skip < least_skip and not by_rows then
      if descending then
        return query
          select substr(e.name, base + 1), e.id, e.updated_at, e.created_at, e.last_accessed_at, e.metadata
            from (select o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata,
                         count(case when array_length(o.path_tokens, 1) > depth then 1 end)
                           over (order by lower(o.name) collate "C" desc rows unbounded preceding) as folders
                    from storage.objects o
                   where o.bucket_id = bucketname and lower(o.name) collate "C" < seek and lower(o.name) collate "C" >= lowered) e
           where e.folders < 1 limit wanted offset to_skip;
      else
        return query
          select substr(e.name, base + 1), e.id, e.updated_at, e.created_at, e.last_accessed_at, e.metadata
            from (select o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata,
                         count(case when array_length(o.path_tokens, 1) > depth then 1 end)
                           over (order by lower(o.name) collate "C" rows unbounded preceding) as folders
                    from storage.objects o
                   where o.bucket_id = bucketname and lower(o.name) collate "C" >= seek
                     and lower(o.name) collate "C" < lowered || last_char) e
           where e.folders < 1 limit wanted offset to_skip;
      end if;
      get diagnostics entries = row_count;
      wanted := wanted - entries;
      exit when wanted = 0;
      if entries > 0 then -- else the run is shorter than to_skip
        if descending then
          select lower(o.name) into seek from storage.objects o
           where o.bucket_id = bucketname and lower(o.name) collate "C" < seek
           order by lower(o.name) collate "C" desc limit 1 offset to_skip + entries - 1;
        else
          select lower(o.name) || chr(1) into seek from storage.objects o
           where o.bucket_id = bucketname and lower(o.name) collate "C" >= seek
           order by lower(o.name) collate "C" limit 1 offset to_skip + entries - 1;
        end if;
        to_skip := 0;
      end if;
    end if;
    in_blocks := false;
    in_run := false;
    singles := 0;
    last_key := null;
    if by_rows then
      open batch no scroll for execute format(
        $q$
          select o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata
            from storage.objects o
           where o.bucket_id = $1 and lower(o.name) collate "C" %1$s $2
           order by lower(o.name) collate "C" %2$s
           limit $3
        $q$, case when descending then '<' else '>=' end, case when descending then 'desc' else 'asc' end)
      using bucketname, seek, wanted + to_skip;
    elsif descending then
      open batch no scroll for
        select o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata
          from storage.objects o
         where o.bucket_id = bucketname and lower(o.name) collate "C" < seek
         order by lower(o.name) collate "C" desc
         limit 1600; -- more than the rows of a page and least_skip; a constant, so that the kept plan follows the index
    else
      open batch no scroll for
        select o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata
          from storage.objects o
         where o.bucket_id = bucketname and lower(o.name) collate "C" >= seek
         order by lower(o.name) collate "C"
         limit 1600; -- more than the rows of a page and least_skip; a constant, so that the kept plan follows the index
    end if;
    while wanted > 0 loop
      fetch batch into found;
      this_key := lower(found.name);
      exit when found.name is null or not starts_with(this_key, lowered);
      folder := storage.get_common_prefix(this_key, lowered, '/');
      in_blocks := folder is null and to_skip >= least_skip and not by_rows;
      in_run := folder is null and to_skip = 0 and singles >= run_after and not by_rows and this_key <> last_key;
      if in_blocks or in_run then
        seek := case when descending then this_key || chr(1) else this_key end;
        exit;
      end if;
      singles := singles + 1;
      last_key := this_key;
      if to_skip > 0 then
        to_skip := to_skip - 1;
      else
        wanted := wanted - 1;
        if folder is not null then
          search.name := substr(left(found.name, length(folder) - 1), base + 1);
          search.id := null;
          search.updated_at := null;
          search.created_at := null;
          search.last_accessed_at := null;
          search.metadata := null;
        else
          search.name := substr(found.name, base + 1);
          search.id := found.id;
          search.updated_at := found.updated_at;
          search.created_at := found.created_at;
          search.last_accessed_at := found.last_accessed_at;
          search.metadata := found.metadata;
        end if;
        return next;
      end if;
      if folder is not null then
        seek := case when descending then folder else folder || last_char end;
        exit;
      end if;
    end loop;
    close batch;
    exit when folder is null and not in_blocks and not in_run;
  end loop;
end $$;

-- Pages sorted by a time. A folder has the time of its oldest object, so the function aggregates the whole prefix. The
-- cursor is the name and the time of the last row, in milliseconds because clients store milliseconds.
create or replace function storage.search_by_timestamp(
  p_prefix text, p_bucket_id text, p_limit integer, p_level integer, p_start_after text,
  p_sort_order text, p_sort_column text, p_sort_column_after text
) returns table (
  key text, name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz, metadata jsonb
)
language plpgsql stable as $$
declare
  direction constant text := case lower(p_sort_order) when 'desc' then 'desc' else 'asc' end; -- part of the SQL below
begin
  return query execute format(
    $q$
      with below as (
        select o.*, storage.get_common_prefix(o.name, $1, '/') as folder
          from storage.objects o
         where o.bucket_id = $2 and starts_with(o.name, $1)
      ), entries as (
        select left(b.folder, -1) as name, null::uuid as id, min(b.created_at) as updated_at, min(b.created_at) as created_at,
               null::timestamptz as last_accessed_at, null::jsonb as metadata
          from below b where b.folder is not null group by b.folder
        union all
        select b.name, b.id, b.updated_at, b.created_at, b.last_accessed_at, b.metadata
          from below b where b.folder is null
      )
      select split_part(e.name, '/', $3), e.*
        from entries e
       where $5 = ''
          or (date_trunc('milliseconds', e.%1$I), e.name collate "C")
             %3$s (coalesce(nullif($6, '')::timestamptz, 'epoch'), $5)
       order by coalesce(date_trunc('milliseconds', e.%1$I), 'epoch') %2$s, e.name collate "C" %2$s
       limit $4
    $q$, p_sort_column, direction, case direction when 'asc' then '>' else '<' end)
  using coalesce(p_prefix, ''), p_bucket_id, p_level, p_limit, coalesce(p_start_after, ''), p_sort_column_after;
end $$;

-- The listing of POST /object/list-v2: pages by cursor, sorted by name or by a time.
create or replace function storage.search_v2(
  prefix text, bucket_name text, limits integer default 100, levels integer default 1, start_after text default '',
  sort_order text default 'asc', sort_column text default 'name', sort_column_after text default ''
) returns table (
  key text, name text, id uuid, updated_at timestamptz, created_at timestamptz, last_accessed_at timestamptz, metadata jsonb
)
language plpgsql stable as $$
declare
  direction text := case lower(sort_order) when 'desc' then 'desc' else 'asc' end;
  most      integer := least(coalesce(limits, 100), 1500);
begin
  if lower(sort_column) in ('updated_at', 'created_at') then
    return query select * from storage.search_by_timestamp(
      prefix, bucket_name, most, levels, start_after, direction, lower(sort_column), sort_column_after);
  else
    return query
      select split_part(l.name, '/', levels), l.name, l.id, l.updated_at, l.created_at, l.last_accessed_at, l.metadata
        from storage.list_objects_with_delimiter(bucket_name, prefix, '/', most, start_after, '', direction) l;
  end if;
end $$;

-- Multipart uploads in the order of S3. The caller has escaped the prefix as a pattern.
create or replace function storage.list_multipart_uploads_with_delimiter(
  bucket_id text, prefix_param text, delimiter_param text, max_keys integer default 100,
  next_key_token text default '', next_upload_token text default ''
) returns table (key text, id text, created_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
    select distinct on (u.folded collate "C") u.folded, u.id, u.created_at
      from (select coalesce(storage.get_common_prefix(m.key, prefix_param, delimiter_param), m.key) as folded,
                   m.id, m.created_at
              from storage.s3_multipart_uploads m
             where m.bucket_id = list_multipart_uploads_with_delimiter.bucket_id
               and m.key ilike prefix_param || '%') u
     where (next_key_token = '' or next_upload_token <> '' or u.folded collate "C" > next_key_token)
       and (next_upload_token = '' or u.id collate "C" > next_upload_token)
     order by u.folded collate "C", u.created_at
     limit max_keys;
end $$;
