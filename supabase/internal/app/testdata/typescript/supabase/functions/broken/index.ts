import { missing } from './missing.ts';

Deno.serve(() => new Response(missing));
