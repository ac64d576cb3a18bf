import { double } from 'https://esm.sh/double@1';

Deno.serve(() => new Response(String(double(21))));
