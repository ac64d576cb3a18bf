-- The interface of pg_jsonschema. Functions whose names begin with _ are not part of it.

-- The draft that "$schema" names, or the one of the schema around it.
create function @extschema@._jsonschema_draft(schema jsonb, around int) returns int
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case
    when jsonb_typeof(schema) <> 'object' or jsonb_typeof(schema -> '$schema') is distinct from 'string' then around
    when schema ->> '$schema' ~ 'draft-0[34]/' then 4
    when schema ->> '$schema' ~ 'draft-06/' then 6
    when schema ->> '$schema' ~ 'draft-07/' then 7
    when schema ->> '$schema' ~ 'draft/2019-09/' then 2019
    else 2020
  end
$$;

-- Resolves a reference against a base URI (RFC 3986, 5.2; of dot segments only those for the same folder).
create function @extschema@._jsonschema_resolve(base text, ref text) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case
    when ref ~ '^[A-Za-z][A-Za-z0-9+.-]*:' then ref
    when ref = '' then b
    when ref like '#%' then b || ref
    when ref like '/%' then coalesce(substring(b from '^[A-Za-z][A-Za-z0-9+.-]*://[^/]*'), '') || ref
    else coalesce(substring(b from '^.*/'), '') || regexp_replace(ref, '^(\./)+', '')
  end
  from (select split_part(base, '#', 1)) t (b)
$$;

-- The base URI inside a schema: that of its "$id", if it has one.
create function @extschema@._jsonschema_base(schema jsonb, base text, draft int) returns text
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case
    when jsonb_typeof(schema -> k) is distinct from 'string' or schema ->> k like '#%'
      or draft <= 7 and schema ? '$ref' then base
    else split_part(@extschema@._jsonschema_resolve(base, schema ->> k), '#', 1)
  end
  from (select case when draft = 4 then 'id' else '$id' end) t (k)
$$;

-- The schemas inside a schema that have a URI, by it.
create function @extschema@._jsonschema_index(schema jsonb, base text, draft int) returns jsonb
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  ids   jsonb := '{}';
  here  text;
  id    text;
  key   text;
  value jsonb;
begin
  if jsonb_typeof(schema) = 'array' then
    for value in select * from jsonb_array_elements(schema) loop
      ids := ids || @extschema@._jsonschema_index(value, base, draft);
    end loop;
    return ids;
  elsif jsonb_typeof(schema) <> 'object' then
    return ids;
  end if;
  draft := @extschema@._jsonschema_draft(schema, draft);
  here := @extschema@._jsonschema_base(schema, base, draft);
  key := case when draft = 4 then 'id' else '$id' end;
  id := schema ->> key;
  if here <> base then
    schema := schema || jsonb_build_object(key, here); -- found by its URI, it must not be resolved again
    ids := jsonb_build_object(here, schema);
  end if;
  if draft <= 7 and id like '#%' and not schema ? '$ref' then
    ids := ids || jsonb_build_object(here || id, schema);
  end if;
  if draft >= 2019 then
    foreach key in array array['$anchor', '$dynamicAnchor'] loop
      if jsonb_typeof(schema -> key) = 'string' then
        ids := ids || jsonb_build_object(here || '#' || (schema ->> key), schema);
      end if;
    end loop;
  end if;
  for key, value in select * from jsonb_each(schema) loop
    continue when key in ('enum', 'const', 'default', 'examples');
    ids := ids || @extschema@._jsonschema_index(value, here, draft);
  end loop;
  return ids;
end
$$;

-- Finds the schema of a URI, and the base URI around it.
create function @extschema@._jsonschema_find(ids jsonb, uri text, draft int, out schema jsonb, out base text)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  document constant text := split_part(uri, '#', 1);
  fragment constant text := substring(uri from '#(.*)$');
  step     text;
begin
  base := document;
  schema := ids -> document;
  if coalesce(fragment, '') = '' then
    null;
  elsif ids ? uri then
    schema := ids -> uri;
  elsif fragment like '/%' then
    foreach step in array string_to_array(substr(fragment, 2), '/') loop
      base := @extschema@._jsonschema_base(schema, base, draft);
      step := replace(replace(step, '~1', '/'), '~0', '~');
      if step ~ '%[0-9A-Fa-f]{2}' then
        select convert_from(string_agg(
            case when m[1] like '\%__' escape '\' then decode(substr(m[1], 2), 'hex') else convert_to(m[1], 'UTF8') end,
            '' order by i), 'UTF8')
          into step from regexp_matches(step, '(%[0-9A-Fa-f]{2}|[^%]+|%)', 'g') with ordinality r (m, i);
      end if;
      schema := case jsonb_typeof(schema) when 'array' then schema -> step::int else schema -> step end;
    end loop;
  else
    schema := null;
  end if;
  if schema is null then
    raise exception 'the schema has no "%"', uri
      using errcode = 'invalid_parameter_value', detail = 'References to other documents are not loaded.';
  end if;
end
$$;

-- Finds the schema of "$ref", "$dynamicRef" or "$recursiveRef". scope has the base URIs of the schemas around it, the
-- outermost first.
create function @extschema@._jsonschema_target(
  kind text, ref text, ids jsonb, base text, draft int, scope text[], out schema jsonb, out around text
)
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  outer_base text;
  anchor     text;
begin
  select f.schema, f.base into schema, around
    from @extschema@._jsonschema_find(ids, @extschema@._jsonschema_resolve(base, ref), draft) f;
  if kind = '$recursiveRef' and schema -> '$recursiveAnchor' = 'true' then
    foreach outer_base in array scope loop
      if ids -> outer_base -> '$recursiveAnchor' = 'true' then
        schema := ids -> outer_base;
        around := outer_base;
        return;
      end if;
    end loop;
  elsif kind = '$dynamicRef' and schema ->> '$dynamicAnchor' = substring(ref from '#(.*)$') then
    anchor := '#' || (schema ->> '$dynamicAnchor');
    foreach outer_base in array scope loop
      if ids -> (outer_base || anchor) ? '$dynamicAnchor' then
        schema := ids -> (outer_base || anchor);
        around := outer_base;
        return;
      end if;
    end loop;
  end if;
end
$$;

create function @extschema@._jsonschema_is(instance jsonb, type text) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case
    when type = 'integer' then
      jsonb_typeof(instance) = 'number' and (instance #>> '{}')::numeric = trunc((instance #>> '{}')::numeric)
    else jsonb_typeof(instance) = type
  end
$$;

-- Reports whether a text has a format. Unknown formats have none.
create function @extschema@._jsonschema_has_format(value text, format text) returns boolean
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  day constant text := '\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])';
  clock constant text := '([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)';
  dummy date;
begin
  case format
    when 'date-time' then
      if value !~* ('^' || day || 't' || clock || '$') then return false; end if;
      dummy := make_date(left(value, 4)::int, substr(value, 6, 2)::int, substr(value, 9, 2)::int);
    when 'date' then
      if value !~ ('^' || day || '$') then return false; end if;
      dummy := make_date(left(value, 4)::int, substr(value, 6, 2)::int, substr(value, 9, 2)::int);
    when 'time' then return value ~* ('^' || clock || '$');
    when 'email' then return value ~ '^[^@\s.][^@\s]*@[^@\s]+$' and split_part(value, '@', 1) !~ '\.\.|\.$';
    when 'hostname' then
      return length(value) <= 253
        and value ~* '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$';
    when 'ipv4' then return value ~ '^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.|$)){4}$' and value !~ '\.$';
    when 'ipv6' then
      return value ~ '^[0-9A-Fa-f:.]+$' and value ~ ':' and family(value::inet) = 6;
    when 'uri' then return value ~ '^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]*$';
    when 'uri-reference' then return value ~ '^[^\s<>"{}|\\^`]*$';
    when 'uuid' then return value ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
    when 'json-pointer' then return value ~ '^(/([^~]|~[01])*)*$';
    when 'regex' then perform '' ~ value;
    else null;
  end case;
  return true;
exception when data_exception or invalid_regular_expression then
  return false;
end
$$;

-- The errors of an instance. ids are the schemas with a URI, base is the URI around this one, scope those of all
-- schemas around it.
create function @extschema@._jsonschema_errors(
  schema jsonb, instance jsonb, ids jsonb, base text, draft int, scope text[]
) returns text[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  errors    text[] := '{}';
  kind      constant text := jsonb_typeof(instance);
  shown     constant text := instance::text;
  number    numeric;
  size      int;
  key       text;
  property  text;
  keyword   jsonb;
  value     jsonb;
  sub       jsonb;
  found     text[];
  seen      text[];
  i         int;
  n         int;
  target    record;
begin
  if schema = 'true' then
    return errors;
  elsif schema = 'false' then
    return array[format('False schema does not allow %s', shown)];
  elsif jsonb_typeof(schema) <> 'object' then
    return array[format('%s is not a schema', schema)];
  end if;
  draft := @extschema@._jsonschema_draft(schema, draft);
  base := @extschema@._jsonschema_base(schema, base, draft);
  if scope = '{}' or scope[cardinality(scope)] <> base then
    scope := scope || base;
  end if;

  foreach key in array array['$ref', '$dynamicRef', '$recursiveRef'] loop
    continue when jsonb_typeof(schema -> key) is distinct from 'string';
    select t.schema as found, t.around into target
      from @extschema@._jsonschema_target(key, schema ->> key, ids, base, draft, scope) t;
    errors := errors || @extschema@._jsonschema_errors(target.found, instance, ids, target.around, draft, scope);
    if draft <= 7 then
      return errors; -- its siblings have no meaning
    end if;
  end loop;

  keyword := schema -> 'type';
  if jsonb_typeof(keyword) = 'string' and not @extschema@._jsonschema_is(instance, keyword #>> '{}') then
    errors := errors || format('%s is not of type %s', shown, keyword);
  elsif jsonb_typeof(keyword) = 'array' and not exists (
      select from jsonb_array_elements_text(keyword) t (name) where @extschema@._jsonschema_is(instance, name)) then
    errors := errors || format('%s is not of types %s', shown,
      (select string_agg(t::text, ', ') from jsonb_array_elements(keyword) t));
  end if;
  if jsonb_typeof(schema -> 'enum') = 'array' and not exists (
      select from jsonb_array_elements(schema -> 'enum') e where e = instance) then
    errors := errors || format('%s is not one of %s', shown,
      (select string_agg(e::text, ', ') from jsonb_array_elements(schema -> 'enum') e));
  end if;
  if schema ? 'const' and draft >= 6 and schema -> 'const' <> instance then
    errors := errors || format('%s was expected', schema -> 'const');
  end if;

  -- combinations
  if jsonb_typeof(schema -> 'allOf') = 'array' then
    for sub in select * from jsonb_array_elements(schema -> 'allOf') loop
      errors := errors || @extschema@._jsonschema_errors(sub, instance, ids, base, draft, scope);
    end loop;
  end if;
  foreach key in array array['anyOf', 'oneOf'] loop
    continue when jsonb_typeof(schema -> key) is distinct from 'array';
    select count(*) into n from jsonb_array_elements(schema -> key) s
      where @extschema@._jsonschema_errors(s, instance, ids, base, draft, scope) = '{}';
    if n = 0 then
      errors := errors || format('%s is not valid under any of the schemas listed in the ''%s'' keyword', shown, key);
    elsif n > 1 and key = 'oneOf' then
      errors := errors ||
        format('%s is valid under more than one of the schemas listed in the ''oneOf'' keyword', shown);
    end if;
  end loop;
  if schema ? 'not' and @extschema@._jsonschema_errors(schema -> 'not', instance, ids, base, draft, scope) = '{}' then
    errors := errors || format('%s is not allowed for %s', schema -> 'not', shown);
  end if;
  if draft >= 7 and schema ? 'if' then
    key := case @extschema@._jsonschema_errors(schema -> 'if', instance, ids, base, draft, scope)
      when '{}' then 'then' else 'else' end;
    if schema ? key then
      errors := errors || @extschema@._jsonschema_errors(schema -> key, instance, ids, base, draft, scope);
    end if;
  end if;

  if kind = 'number' then
    number := (instance #>> '{}')::numeric;
    if jsonb_typeof(schema -> 'multipleOf') = 'number' and number % (schema ->> 'multipleOf')::numeric <> 0 then
      errors := errors || format('%s is not a multiple of %s', shown, schema -> 'multipleOf');
    end if;
    foreach key in array array['maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'] loop
      continue when jsonb_typeof(schema -> key) is distinct from 'number';
      n := sign(number - (schema ->> key)::numeric);
      if key ilike '%minimum' then
        n := -n;
      end if;
      -- In draft 4 exclusiveMaximum is a flag of maximum.
      if n > 0
         or n = 0 and (key like 'exclusive%' or draft = 4 and schema -> ('exclusive' || initcap(key)) = 'true') then
        errors := errors || format('%s is %s than %sthe %s of %s', shown,
          case when key ilike '%maximum' then 'greater' else 'less' end,
          case when n = 0 then 'or equal to ' else '' end, lower(replace(key, 'exclusive', '')), schema -> key);
      end if;
    end loop;

  elsif kind = 'string' then
    size := char_length(instance #>> '{}');
    if jsonb_typeof(schema -> 'maxLength') = 'number' and size > (schema ->> 'maxLength')::numeric then
      errors := errors || format('%s is longer than %s character%s', shown, schema -> 'maxLength',
        case when (schema ->> 'maxLength')::numeric = 1 then '' else 's' end);
    end if;
    if jsonb_typeof(schema -> 'minLength') = 'number' and size < (schema ->> 'minLength')::numeric then
      errors := errors || format('%s is shorter than %s character%s', shown, schema -> 'minLength',
        case when (schema ->> 'minLength')::numeric = 1 then '' else 's' end);
    end if;
    if jsonb_typeof(schema -> 'pattern') = 'string' and (instance #>> '{}') !~ (schema ->> 'pattern') then
      errors := errors || format('%s does not match %s', shown, schema -> 'pattern');
    end if;
    -- As in the original, later drafts take a format for an annotation.
    if draft <= 7 and jsonb_typeof(schema -> 'format') = 'string'
       and not @extschema@._jsonschema_has_format(instance #>> '{}', schema ->> 'format') then
      errors := errors || format('%s is not a %s', shown, schema -> 'format');
    end if;

  elsif kind = 'array' then
    size := jsonb_array_length(instance);
    if jsonb_typeof(schema -> 'maxItems') = 'number' and size > (schema ->> 'maxItems')::numeric then
      errors := errors || format('%s has more than %s item%s', shown, schema -> 'maxItems',
        case when (schema ->> 'maxItems')::numeric = 1 then '' else 's' end);
    end if;
    if jsonb_typeof(schema -> 'minItems') = 'number' and size < (schema ->> 'minItems')::numeric then
      errors := errors || format('%s has less than %s item%s', shown, schema -> 'minItems',
        case when (schema ->> 'minItems')::numeric = 1 then '' else 's' end);
    end if;
    if schema -> 'uniqueItems' = 'true'
       and (select count(*) <> count(distinct e) from jsonb_array_elements(instance) e) then
      errors := errors || format('%s has non-unique elements', shown);
    end if;
    -- The schemas of the first items, and that of the others.
    keyword := schema -> (case when draft >= 2020 then 'prefixItems' else 'items' end);
    sub := schema -> (case when draft >= 2020 then 'items' else 'additionalItems' end);
    n := 0;
    if jsonb_typeof(keyword) = 'array' then
      n := jsonb_array_length(keyword);
    elsif draft < 2020 then
      sub := keyword;
    end if;
    for i in 0 .. size - 1 loop
      value := case when i < n then keyword -> i else sub end;
      if value is not null then
        errors := errors || @extschema@._jsonschema_errors(value, instance -> i, ids, base, draft, scope);
      end if;
    end loop;
    if draft >= 6 and schema ? 'contains' then
      select count(*) into n from jsonb_array_elements(instance) e
        where @extschema@._jsonschema_errors(schema -> 'contains', e, ids, base, draft, scope) = '{}';
      if n < (case when draft >= 2019 then coalesce((schema ->> 'minContains')::numeric, 1) else 1 end) then
        errors := errors || format('None of %s are valid under the given schema', shown);
      elsif draft >= 2019 and n > (schema ->> 'maxContains')::numeric then
        errors := errors || format('%s contains more than %s item%s that match the schema', shown,
          schema -> 'maxContains', case when (schema ->> 'maxContains')::numeric = 1 then '' else 's' end);
      end if;
    end if;

  elsif kind = 'object' then
    select count(*) into size from jsonb_object_keys(instance);
    if jsonb_typeof(schema -> 'maxProperties') = 'number' and size > (schema ->> 'maxProperties')::numeric then
      errors := errors || format('%s has more than %s propert%s', shown, schema -> 'maxProperties',
        case when (schema ->> 'maxProperties')::numeric = 1 then 'y' else 'ies' end);
    end if;
    if jsonb_typeof(schema -> 'minProperties') = 'number' and size < (schema ->> 'minProperties')::numeric then
      errors := errors || format('%s has less than %s propert%s', shown, schema -> 'minProperties',
        case when (schema ->> 'minProperties')::numeric = 1 then 'y' else 'ies' end);
    end if;
    if jsonb_typeof(schema -> 'required') = 'array' then
      errors := errors || array(select format('%s is a required property', to_json(name))
        from jsonb_array_elements_text(schema -> 'required') r (name) where not instance ? name);
    end if;
    found := '{}';
    for property, value in select * from jsonb_each(instance) loop
      seen := '{}';
      if schema -> 'properties' ? property then
        errors := errors ||
          @extschema@._jsonschema_errors(schema -> 'properties' -> property, value, ids, base, draft, scope);
        seen := array[property];
      end if;
      if jsonb_typeof(schema -> 'patternProperties') = 'object' then
        for sub in select p.value from jsonb_each(schema -> 'patternProperties') p where property ~ p.key loop
          errors := errors || @extschema@._jsonschema_errors(sub, value, ids, base, draft, scope);
          seen := array[property];
        end loop;
      end if;
      if seen = '{}' and schema -> 'additionalProperties' = 'false' then
        found := found || quote_literal(property);
      elsif seen = '{}' and schema ? 'additionalProperties' then
        errors := errors ||
          @extschema@._jsonschema_errors(schema -> 'additionalProperties', value, ids, base, draft, scope);
      end if;
      if draft >= 6 and schema ? 'propertyNames' then
        errors := errors ||
          @extschema@._jsonschema_errors(schema -> 'propertyNames', to_jsonb(property), ids, base, draft, scope);
      end if;
    end loop;
    if found <> '{}' then
      errors := errors || format('Additional properties are not allowed (%s %s unexpected)',
        array_to_string(found, ', '), case when cardinality(found) = 1 then 'was' else 'were' end);
    end if;
    foreach key in array
      case when draft >= 2019 then array['dependentRequired', 'dependentSchemas'] else array['dependencies'] end loop
      continue when jsonb_typeof(schema -> key) is distinct from 'object';
      for sub in select d.value from jsonb_each(schema -> key) d where instance ? d.key loop
        if jsonb_typeof(sub) = 'array' then
          errors := errors || array(select format('%s is a required property', to_json(name))
            from jsonb_array_elements_text(sub) r (name) where not instance ? name);
        else
          errors := errors || @extschema@._jsonschema_errors(sub, instance, ids, base, draft, scope);
        end if;
      end loop;
    end loop;
  end if;

  if draft >= 2019 and kind in ('object', 'array') then
    key := case kind when 'object' then 'unevaluatedProperties' else 'unevaluatedItems' end;
    if schema ? key then
      seen := @extschema@._jsonschema_evaluated(schema - key, instance, ids, base, draft, scope);
      found := '{}';
      for target in
        select e.name, e.value from (
          select o.key as name, o.value from jsonb_each(case kind when 'object' then instance else '{}' end) o
          union all
          select (a.i - 1)::text, a.value from jsonb_array_elements(case kind when 'array' then instance else '[]' end)
            with ordinality a (value, i)
        ) e where e.name <> all (seen)
      loop
        if @extschema@._jsonschema_errors(schema -> key, target.value, ids, base, draft, scope) <> '{}' then
          found := found || case kind when 'object' then quote_literal(target.name) else target.value::text end;
        end if;
      end loop;
      if found <> '{}' then
        errors := errors || format('Unevaluated %s are not allowed (%s %s unexpected)',
          case kind when 'object' then 'properties' else 'items' end, array_to_string(found, ', '),
          case when cardinality(found) = 1 then 'was' else 'were' end);
      end if;
    end if;
  end if;
  return errors;
end
$$;

-- The names of properties, or numbers of items, that a schema evaluates in an instance which it accepts.
create function @extschema@._jsonschema_evaluated(
  schema jsonb, instance jsonb, ids jsonb, base text, draft int, scope text[]
) returns text[]
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  seen    text[] := '{}';
  everything constant text[] := case jsonb_typeof(instance)
    when 'object' then array(select jsonb_object_keys(instance))
    when 'array' then array(select i::text from generate_series(0, jsonb_array_length(instance) - 1) i)
    else '{}' end;
  key     text;
  sub     jsonb;
  target  record;
begin
  if jsonb_typeof(schema) <> 'object' then
    return seen;
  end if;
  draft := @extschema@._jsonschema_draft(schema, draft);
  base := @extschema@._jsonschema_base(schema, base, draft);
  if scope = '{}' or scope[cardinality(scope)] <> base then
    scope := scope || base;
  end if;
  foreach key in array array['$ref', '$dynamicRef', '$recursiveRef'] loop
    continue when jsonb_typeof(schema -> key) is distinct from 'string';
    select t.schema as found, t.around into target
      from @extschema@._jsonschema_target(key, schema ->> key, ids, base, draft, scope) t;
    seen := seen || @extschema@._jsonschema_evaluated(target.found, instance, ids, target.around, draft, scope);
  end loop;
  if jsonb_typeof(instance) = 'object' then
    if schema ?| array['additionalProperties', 'unevaluatedProperties'] then
      return everything;
    end if;
    seen := seen || array(select k from unnest(everything) k
      where schema -> 'properties' ? k
        or jsonb_typeof(schema -> 'patternProperties') = 'object'
           and exists (select from jsonb_object_keys(schema -> 'patternProperties') p where k ~ p));
  else
    if schema ? 'unevaluatedItems' or draft >= 2020 and schema ? 'items'
       or draft < 2020
          and (jsonb_typeof(schema -> 'items') in ('object', 'boolean')
               or schema ?& array['items', 'additionalItems']) then
      return everything;
    end if;
    sub := schema -> (case when draft >= 2020 then 'prefixItems' else 'items' end);
    if jsonb_typeof(sub) = 'array' then
      seen := seen || array(select k from unnest(everything) k where k::int < jsonb_array_length(sub));
    end if;
    if draft >= 2020 and schema ? 'contains' then
      seen := seen || array(select k from unnest(everything) k
        where @extschema@._jsonschema_errors(schema -> 'contains', instance -> k::int, ids, base, draft, scope) = '{}');
    end if;
  end if;
  if schema ? 'if' then
    key := 'else';
    if @extschema@._jsonschema_errors(schema -> 'if', instance, ids, base, draft, scope) = '{}' then
      seen := seen || @extschema@._jsonschema_evaluated(schema -> 'if', instance, ids, base, draft, scope);
      key := 'then';
    end if;
    if schema ? key then
      seen := seen || @extschema@._jsonschema_evaluated(schema -> key, instance, ids, base, draft, scope);
    end if;
  end if;
  for sub in
    select s from unnest(array['allOf', 'anyOf', 'oneOf']) k,
      jsonb_array_elements(case jsonb_typeof(schema -> k) when 'array' then schema -> k else '[]' end) s
    union all
    select d.value
    from jsonb_each(case jsonb_typeof(schema -> 'dependentSchemas') when 'object' then schema -> 'dependentSchemas'
                    else '{}' end) d
    where instance ? d.key and jsonb_typeof(instance) = 'object'
  loop
    if @extschema@._jsonschema_errors(sub, instance, ids, base, draft, scope) = '{}' then
      seen := seen || @extschema@._jsonschema_evaluated(sub, instance, ids, base, draft, scope);
    end if;
  end loop;
  return seen;
end
$$;

create function @extschema@._jsonschema_check(schema jsonb, instance jsonb) returns text[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select @extschema@._jsonschema_errors(schema, instance,
    jsonb_build_object('', schema) || @extschema@._jsonschema_index(schema, '', draft), '', draft, '{}')
  from (select @extschema@._jsonschema_draft(schema, 2020)) t (draft)
$$;

create function @extschema@.json_matches_schema(schema json, instance json) returns boolean
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
  select @extschema@._jsonschema_check(schema::jsonb, instance::jsonb) = '{}'
$$;

create function @extschema@.jsonb_matches_schema(schema json, instance jsonb) returns boolean
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
  select @extschema@._jsonschema_check(schema::jsonb, instance) = '{}'
$$;

create function @extschema@.jsonschema_validation_errors(schema json, instance json) returns text[]
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
  select @extschema@._jsonschema_check(schema::jsonb, instance::jsonb)
$$;

-- Reports whether the keywords of a schema have values of the right types.
create function @extschema@.jsonschema_is_valid(schema json) returns boolean
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
declare
  rules constant jsonb := '{
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {
      "schemas": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
      "named": {"type": "object", "additionalProperties": {"$ref": "#"}},
      "count": {"type": "integer", "minimum": 0},
      "names": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
      "type": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
    },
    "type": ["object", "boolean"],
    "properties": {
      "$id": {"type": "string"}, "$schema": {"type": "string"}, "$ref": {"type": "string"},
      "$comment": {"type": "string"},
      "title": {"type": "string"}, "description": {"type": "string"}, "format": {"type": "string"},
      "type": {"anyOf": [{"$ref": "#/definitions/type"},
        {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"$ref": "#/definitions/type"}}]},
      "enum": {"type": "array"}, "multipleOf": {"type": "number", "exclusiveMinimum": 0},
      "maximum": {"type": "number"}, "minimum": {"type": "number"},
      "exclusiveMaximum": {"type": ["number", "boolean"]}, "exclusiveMinimum": {"type": ["number", "boolean"]},
      "maxLength": {"$ref": "#/definitions/count"}, "minLength": {"$ref": "#/definitions/count"},
      "maxItems": {"$ref": "#/definitions/count"}, "minItems": {"$ref": "#/definitions/count"},
      "maxContains": {"$ref": "#/definitions/count"}, "minContains": {"$ref": "#/definitions/count"},
      "maxProperties": {"$ref": "#/definitions/count"}, "minProperties": {"$ref": "#/definitions/count"},
      "pattern": {"type": "string", "format": "regex"}, "uniqueItems": {"type": "boolean"},
      "required": {"anyOf": [{"$ref": "#/definitions/names"}, {"type": "boolean"}]},
      "allOf": {"$ref": "#/definitions/schemas"}, "anyOf": {"$ref": "#/definitions/schemas"},
      "oneOf": {"$ref": "#/definitions/schemas"}, "prefixItems": {"$ref": "#/definitions/schemas"},
      "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/schemas"}]},
      "properties": {"$ref": "#/definitions/named"}, "definitions": {"$ref": "#/definitions/named"},
      "$defs": {"$ref": "#/definitions/named"}, "dependentSchemas": {"$ref": "#/definitions/named"},
      "patternProperties": {"allOf": [{"$ref": "#/definitions/named"}], "propertyNames": {"format": "regex"}},
      "dependentRequired": {"type": "object", "additionalProperties": {"$ref": "#/definitions/names"}},
      "dependencies": {"type": "object",
        "additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/names"}]}},
      "not": {"$ref": "#"}, "if": {"$ref": "#"}, "then": {"$ref": "#"}, "else": {"$ref": "#"},
      "contains": {"$ref": "#"}, "propertyNames": {"$ref": "#"}, "additionalProperties": {"$ref": "#"},
      "additionalItems": {"$ref": "#"},
      "unevaluatedProperties": {"$ref": "#"}, "unevaluatedItems": {"$ref": "#"}
    }
  }';
  errors constant text[] := @extschema@._jsonschema_check(rules, schema::jsonb);
begin
  if errors <> '{}' then
    raise notice 'Invalid JSON schema: %', errors[1];
  end if;
  return errors = '{}';
end
$$;
