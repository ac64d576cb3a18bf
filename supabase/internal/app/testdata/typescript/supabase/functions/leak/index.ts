const kept: unknown[] = [];

Deno.serve((request) => {
  const outside = new URL(request.url).searchParams.has('buffers');
  while (request.method === 'POST') {
    kept.push(outside ? new Uint8Array(8 << 20).fill(1) : new Array(1 << 20).fill(kept.length + 0.5));
  }
  return new Response('no leak');
});
