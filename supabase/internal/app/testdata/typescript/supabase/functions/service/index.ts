import { createClient } from '@supabase/supabase-js';

// Writes with the service key, which row level security does not limit.
Deno.serve(async (request) => {
  const client = createClient(Deno.env.get('SUPABASE_URL')!, Deno.env.get('SUPABASE_SERVICE_ROLE_KEY')!);
  const { data, error } = await client.from('notes').insert(await request.json()).select('text').single();
  return Response.json({ data, error });
});
