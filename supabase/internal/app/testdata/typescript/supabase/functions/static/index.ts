const own = await Deno.readTextFile(new URL('./own.txt', import.meta.url));
const relative = await Deno.readTextFile('./own.txt');
const outside = await Deno.readTextFile(new URL('../../texts/outside.txt', import.meta.url));

Deno.serve(() => Response.json([own, relative, outside].map((text) => text.trim())));
