-- The one function that clients reach. It explains what is missing, in the form of a GraphQL reply.
create function graphql.resolve(
  query text, variables jsonb default '{}'::jsonb, "operationName" text default null, extensions jsonb default null
) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object('data', null, 'errors', jsonb_build_array(jsonb_build_object('message',
    'pg_graphql needs native code that this Postgres does not have. Start the stack with --database-url on a Postgres that has it.')))
$$;

do $$
begin
  raise warning 'pg_graphql is a placeholder on this server: GraphQL queries return an error'
    using hint = 'Start the stack with --database-url on a Postgres that has pg_graphql.';
end
$$;
