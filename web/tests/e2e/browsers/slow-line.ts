import { once } from 'node:events';
import { Agent, request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Slow 3G: 400 ms to and fro, 400 kbit/s. */
const roundTrip = 400;
const bytesPerMillisecond = 50;

/** A proxy between one page and the stack, as slow as 3G. It connects to no other host. */
export interface SlowLine {
  /** 'host:port', as browsers want the address of a proxy. */
  address: string;
  /** What the page has asked for: 'POST http://…' or 'CONNECT host:443'. */
  asked: readonly string[];
  close: () => void;
}

/** Starts a line to the stack at an origin. */
export async function startSlowLine(stack: string): Promise<SlowLine> {
  const asked: string[] = [];
  const agent = new Agent({ keepAlive: true });
  let freeAt = 0;

  /** Resolves when the line has carried that many bytes after those before them. */
  async function carry(bytes: number) {
    freeAt = Math.max(Date.now(), freeAt) + bytes / bytesPerMillisecond;
    await wait(freeAt - Date.now());
  }

  async function relay(request: IncomingMessage, response: ServerResponse) {
    await wait(roundTrip);
    const onward = ask(request.url ?? '', { method: request.method, headers: request.headers, agent });
    request.pipe(onward);
    const [reply] = (await once(onward, 'response')) as [IncomingMessage];
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      await carry(chunk.length);
      response.write(chunk);
    }
    response.end();
  }

  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.on('error', () => {}); // the page may leave
    if (!request.url?.startsWith(`${stack}/`)) return void response.writeHead(502).end();
    relay(request, response).catch(() => request.socket.destroy());
  });
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}
