Deno.serve(async (request) => {
  const all = Deno.env.toObject();
  const { hostname, port, username, password } = new URL(all.SUPABASE_DB_URL);
  (await Deno.connect({ hostname, port: Number(port) })).close();
  return Response.json({
    names: Object.keys(all).sort(),
    values: [all.FROM_CONFIG, all.FROM_FILE, username, password !== ''],
    database: all.SUPABASE_DB_URL,
    keys: [all.SUPABASE_SERVICE_ROLE_KEY, all.SUPABASE_SECRET_KEY],
    headers: Object.fromEntries(request.headers),
  });
});
