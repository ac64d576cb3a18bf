import { cors } from '../_shared/cors.ts';

Deno.serve((request) => new Response(request.method === 'OPTIONS' ? 'ok' : request.method, { headers: cors }));
