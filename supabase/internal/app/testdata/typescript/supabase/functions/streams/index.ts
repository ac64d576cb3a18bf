Deno.serve(() => {
  let n = 0;
  const body = new ReadableStream({
    async pull(controller) {
      if (++n > 3) return controller.close();
      await new Promise((resolve) => setTimeout(resolve, 20));
      controller.enqueue(new TextEncoder().encode(`data: ${n}\n\n`));
    },
  });
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
});
