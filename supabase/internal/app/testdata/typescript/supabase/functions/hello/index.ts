Deno.serve(async (request: Request): Promise<Response> => {
  const { name } = await request.json();
  return Response.json({ message: `Hello ${name}!` });
});
