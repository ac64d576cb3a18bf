Deno.serve(() => new Response('elsewhere'));
