import { cors } from 'shared/cors.ts';

Deno.serve(() => Response.json(Object.keys(cors).length));
