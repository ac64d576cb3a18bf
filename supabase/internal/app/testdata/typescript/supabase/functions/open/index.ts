export default { fetch: () => new Response('open to all') };
