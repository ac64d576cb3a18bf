declare const EdgeRuntime: { waitUntil<T>(promise: Promise<T>): Promise<T> };

let done = 0;
const work = async () => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  done++;
};

addEventListener('beforeunload', (event) => {
  console.log(`unloaded: ${(event as CustomEvent).detail?.reason}, done: ${done}`);
});

Deno.serve((request) => {
  if (request.method === 'POST') EdgeRuntime.waitUntil(work());
  return Response.json({ done });
});
