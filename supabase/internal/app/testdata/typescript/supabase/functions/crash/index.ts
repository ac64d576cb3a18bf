Deno.serve(async (request) => {
  if (new URL(request.url).searchParams.has('throw')) throw new Error('thrown by the handler');
  setTimeout(() => {
    throw new Error('outside of the handler');
  });
  await new Promise(() => {});
  return new Response();
});
