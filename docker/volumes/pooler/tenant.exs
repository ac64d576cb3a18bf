# Registers the one tenant of the pooler, at every start. So a changed password in .env applies after a restart, as for the
# other services (volumes/db/roles.sql). The pooler reads the clients' passwords from Postgres as pgbouncer.
{:ok, _} = Application.ensure_all_started(:supavisor)

env = &System.fetch_env!/1
number = fn name -> name |> env.() |> String.to_integer() end
%{rows: [[version]]} = Supavisor.Repo.query!("show server_version")

Supavisor.Tenants.delete_tenant_by_external_id(env.("POOLER_TENANT_ID"))

{:ok, _} =
  Supavisor.Tenants.create_tenant(%{
    "external_id" => env.("POOLER_TENANT_ID"),
    "db_host" => env.("POSTGRES_HOST"),
    "db_port" => number.("POSTGRES_PORT"),
    "db_database" => env.("POSTGRES_DB"),
    "ip_version" => "auto",
    "default_parameter_status" => %{"server_version" => version},
    "default_max_clients" => number.("POOLER_MAX_CLIENT_CONN"),
    "default_pool_size" => number.("POOLER_DEFAULT_POOL_SIZE"),
    "require_user" => false,
    "auth_query" => "SELECT * FROM pgbouncer.get_auth($1)",
    "users" => [
      %{
        "db_user" => "pgbouncer",
        "db_password" => env.("POSTGRES_PASSWORD"),
        "is_manager" => true,
        "mode_type" => env.("POOLER_POOL_MODE"),
        "pool_size" => number.("POOLER_DEFAULT_POOL_SIZE")
      }
    ]
  })
