// The interface of Deno before version 1.35, without its types.
// deno-lint-ignore-file no-explicit-any
const listener: any = Deno.listen({ port: 8000 });
for await (const connection of listener) {
  (async () => {
    for await (const event of (Deno as any).serveHttp(connection)) {
      event.respondWith(new Response(`listened to ${new URL(event.request.url).pathname}`));
    }
  })();
}
