Deno.serve(() => {
  const { SUPABASE_DB_URL: _, ...rest } = Deno.env.toObject();
  return Response.json({ names: Object.keys(rest).sort(), values: [rest.FROM_CONFIG, rest.FROM_FILE] });
});
