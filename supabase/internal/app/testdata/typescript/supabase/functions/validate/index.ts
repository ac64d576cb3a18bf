import { z } from 'npm:zod';

const person = z.object({ name: z.string().min(1), age: z.number().int() });

Deno.serve(async (request) => {
  const { success } = person.safeParse(await request.json());
  return Response.json({ success }, { status: success ? 200 : 400 });
});
