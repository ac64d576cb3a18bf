// A server of node:http, as Express and Fastify make it.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  let written: string;
  try {
    Deno.writeTextFileSync(String(server.address()), "");
    written = "written";
  } catch {
    written = "not written";
  }
  response.end(`${request.method} ${request.url} ${written}`);
});
server.listen(8000, "0.0.0.0", () => console.log("listening"));
