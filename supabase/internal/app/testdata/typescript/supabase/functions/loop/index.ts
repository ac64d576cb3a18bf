Deno.serve((request) => {
  while (request.method === 'POST');
  return new Response('no loop');
});
