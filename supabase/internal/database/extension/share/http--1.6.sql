-- HTTP requests whose response the statement waits for. The program of the stack sends them: it listens in the folder of
-- the server's socket and speaks the protocol of Postgres, so dblink's function reaches it.

create domain http_method as text;
create domain content_type as text check (value ~ '^\S+/\S+');

create type http_header as (field varchar, value varchar);
create type http_response as (status integer, content_type varchar, headers http_header[], content varchar);
create type http_request as (method http_method, uri varchar, headers http_header[], content_type varchar, content varchar);

create function http_header(field varchar, value varchar) returns http_header
language sql immutable as $$ select $1, $2 $$;

create function http_headers(variadic args varchar[]) returns http_header[]
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(args) % 2 <> 0 then
    raise exception 'http_headers needs a value for each field' using errcode = 'invalid_parameter_value';
  end if;
  return array(select (args[i], args[i + 1])::@extschema@.http_header from generate_series(1, cardinality(args), 2) i);
end
$$;

-- The options that http_set_curlopt knows. They are settings of the session, such as http.curlopt_timeout_ms.
create function http_list_curlopt() returns table (curlopt text, value text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select name, v from unnest(array['CURLOPT_CONNECTTIMEOUT', 'CURLOPT_CONNECTTIMEOUT_MS', 'CURLOPT_TIMEOUT', 'CURLOPT_TIMEOUT_MS', 'CURLOPT_USERAGENT']) name,
    nullif(current_setting('http.' || lower(name), true), '') v
  where v is not null
$$;

create function http_set_curlopt(curlopt varchar, value varchar) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if upper(curlopt) not in ('CURLOPT_CONNECTTIMEOUT', 'CURLOPT_CONNECTTIMEOUT_MS', 'CURLOPT_TIMEOUT', 'CURLOPT_TIMEOUT_MS', 'CURLOPT_USERAGENT') then
    raise exception 'the option % is not supported', curlopt using errcode = 'feature_not_supported',
      hint = 'CURLOPT_TIMEOUT, CURLOPT_TIMEOUT_MS, CURLOPT_CONNECTTIMEOUT, CURLOPT_CONNECTTIMEOUT_MS and CURLOPT_USERAGENT are.';
  end if;
  perform set_config('http.' || lower(curlopt), value, false);
  return true;
end
$$;

create function http_reset_curlopt() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform set_config('http.' || lower(curlopt), '', false) from @extschema@.http_list_curlopt();
  return true;
end
$$;

-- Sends a statement to a server. Only the owner may call it: for a superuser dblink asks for no password.
create function http_connect(target text, request text) returns setof record
language c strict parallel restricted as '$libdir/dblink', 'dblink_record';
revoke all on function http_connect(text, text) from public;

create function http(request http_request) returns http_response
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target  text := format('host=''%s/http'' port=1 user=http dbname=http sslmode=disable gssencmode=disable connect_timeout=5',
    replace(replace(current_setting('unix_socket_directories'), '\', '\\'), '''', '\'''));
  options json := (select json_object_agg(curlopt, value) from @extschema@.http_list_curlopt());
  reply   record;
begin
  if request.uri is null or request.method is null then
    raise exception 'a request needs a method and a uri' using errcode = 'invalid_parameter_value';
  end if;
  begin
    select * into reply from @extschema@.http_connect(target, json_build_object('method', request.method, 'uri', request.uri,
      'headers', array(select json_build_array(h.field, coalesce(h.value, '')) from unnest(request.headers) h where h.field is not null),
      'content_type', request.content_type, 'content', request.content, 'options', options,
      'limit', extract(epoch from current_setting('statement_timeout')::interval) * 1000)::text)
      as r (status integer, content_type varchar, headers json, content varchar, error text);
  exception when sqlclient_unable_to_establish_sqlconnection then
    raise exception 'the program that sends HTTP requests is not running' using errcode = 'sqlclient_unable_to_establish_sqlconnection',
      hint = 'Start the stack with `daawo start`, and see its log.';
  end;
  if reply.error is not null then
    raise exception '%', reply.error using errcode = 'external_routine_exception';
  end if;
  return (reply.status, reply.content_type,
    array(select (h ->> 0, h ->> 1)::@extschema@.http_header from json_array_elements(reply.headers) h), reply.content)::@extschema@.http_response;
end
$$;

create function urlencode(string bytea) returns text
language sql immutable strict set search_path = pg_catalog, pg_temp as $$
  select coalesce(string_agg(case
      when b between 48 and 57 or b between 65 and 90 or b between 97 and 122 or b in (45, 46, 95, 126) then chr(b)
      when b = 32 then '+'
      else '%' || upper(lpad(to_hex(b), 2, '0')) end, '' order by i), '')
  from generate_series(0, length(string) - 1) i, get_byte(string, i) b
$$;

create function urlencode(string varchar) returns text
language sql immutable strict set search_path = pg_catalog, pg_temp as $$ select @extschema@.urlencode(convert_to(string, 'UTF8')) $$;

create function urlencode(data jsonb) returns text
language sql immutable strict set search_path = pg_catalog, pg_temp as $$
  select coalesce(string_agg(@extschema@.urlencode(key::varchar) || '=' || coalesce(@extschema@.urlencode(value::varchar), ''), '&'), '')
  from jsonb_each_text(data)
$$;

create function text_to_bytea(data text) returns bytea
language sql immutable strict set search_path = pg_catalog, pg_temp as $$ select convert_to(data, 'UTF8') $$;

create function bytea_to_text(data bytea) returns text
language sql immutable strict set search_path = pg_catalog, pg_temp as $$ select convert_from(data, 'UTF8') $$;

create function http_get(uri varchar) returns http_response
language sql as $$ select @extschema@.http(('GET', $1, null, null, null)::@extschema@.http_request) $$;

create function http_get(uri varchar, data jsonb) returns http_response
language sql as $$ select @extschema@.http(('GET', $1 || '?' || @extschema@.urlencode($2), null, null, null)::@extschema@.http_request) $$;

create function http_head(uri varchar) returns http_response
language sql as $$ select @extschema@.http(('HEAD', $1, null, null, null)::@extschema@.http_request) $$;

create function http_post(uri varchar, content varchar, content_type varchar) returns http_response
language sql as $$ select @extschema@.http(('POST', $1, null, $3, $2)::@extschema@.http_request) $$;

create function http_post(uri varchar, data jsonb) returns http_response
language sql as $$
  select @extschema@.http(('POST', $1, null, 'application/x-www-form-urlencoded', @extschema@.urlencode($2))::@extschema@.http_request)
$$;

create function http_put(uri varchar, content varchar, content_type varchar) returns http_response
language sql as $$ select @extschema@.http(('PUT', $1, null, $3, $2)::@extschema@.http_request) $$;

create function http_patch(uri varchar, content varchar, content_type varchar) returns http_response
language sql as $$ select @extschema@.http(('PATCH', $1, null, $3, $2)::@extschema@.http_request) $$;

create function http_delete(uri varchar) returns http_response
language sql as $$ select @extschema@.http(('DELETE', $1, null, null, null)::@extschema@.http_request) $$;

create function http_delete(uri varchar, content varchar, content_type varchar) returns http_response
language sql as $$ select @extschema@.http(('DELETE', $1, null, $3, $2)::@extschema@.http_request) $$;
