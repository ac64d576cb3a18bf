import { createClient } from 'npm:@supabase/supabase-js@2';

// Reads with the caller's token, so row level security decides.
Deno.serve(async (request) => {
  const client = createClient(Deno.env.get('SUPABASE_URL')!, Deno.env.get('SUPABASE_ANON_KEY')!, {
    global: { headers: { Authorization: request.headers.get('Authorization')! } },
  });
  const { data, error } = await client.from('notes').select('text');
  return Response.json({ data, error });
});
