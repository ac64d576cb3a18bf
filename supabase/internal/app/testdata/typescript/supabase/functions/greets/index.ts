import { greet } from 'jsr:@test/greet@1';

Deno.serve(() => new Response(greet('jsr')));
