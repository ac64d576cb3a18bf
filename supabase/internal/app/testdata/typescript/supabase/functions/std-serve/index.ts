import { serve } from 'https://deno.land/std@0.168.0/http/server.ts';

serve(async (request: Request) => new Response(`served ${await request.text()}`));
