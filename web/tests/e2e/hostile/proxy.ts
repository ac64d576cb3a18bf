import { once } from 'node:events';
import { Agent, request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What happens to a request. "cut" sends the headers with the whole length and half of the body. */
export const faults = ['fails', 'answers 500', 'hangs', 'is cut'] as const;
export type Fault = (typeof faults)[number];

/** A forward proxy between the browser and the stack that breaks the requests of one name. */
export interface HostileProxy {
  address: string;
  /** The names of the requests since the last call of forget, each once, in their order. */
  seen: () => string[];
  forget: () => void;
  /** Breaks all requests with that name from now on. */
  breakRequest: (name: string, fault: Fault) => void;
  /** Ends held requests and lets all pass. */
  heal: () => void;
  /** Resolves when no request that may pass has been under way for a moment. */
  idle: () => Promise<void>;
  close: () => Promise<void>;
}

/** Returns the name of a request: method and path, without the query and the name of a photo. */
export function nameOf(method: string, url: string) {
  const path = new URL(url, 'http://stack.invalid').pathname;
  return `${method} ${path.replace(/(report-photos\/).*/, '$1…')}`;
}

export async function startProxy(): Promise<HostileProxy> {
  const agent = new Agent({ keepAlive: true });
  const seen = new Set<string>();
  const held = new Set<ServerResponse>();
  let broken: { name: string; fault: Fault } | undefined;
  let passing = 0;
  let lastChange = Date.now();

  const server = createServer(async (request, response) => {
    const name = nameOf(request.method ?? 'GET', request.url ?? '');
    seen.add(name);
    const fault = broken?.name === name ? broken.fault : undefined;
    response.on('error', () => {}); // the browser may leave
    request.on('error', () => {});
    if (fault === 'fails') return void request.socket.destroy();
    if (fault === 'answers 500') {
      request.resume();
      return void response.writeHead(500, { 'content-type': 'text/plain' }).end('broken');
    }
    if (fault === 'hangs') {
      held.add(response);
      // The stack gets what the browser has sent. Only the reply is lost.
      if (request.method === 'POST') await replyTo(request, agent).catch(() => {});
      return;
    }
    passing++;
    try {
      const { status, headers, body } = await replyTo(request, agent);
      if (fault === 'is cut') {
        response.writeHead(status, { ...headers, 'content-length': String(body.length) });
        response.write(body.subarray(0, body.length / 2));
        // The socket writes what it has, then ends before the promised length.
        response.socket?.end();
      } else response.writeHead(status, headers).end(body);
    } catch {
      request.socket.destroy();
    } finally {
      passing--;
      lastChange = Date.now();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const heal = () => {
    broken = undefined;
    for (const response of held) response.socket?.destroy();
    held.clear();
  };
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: () => [...seen],
    forget: () => seen.clear(),
    breakRequest: (name, fault) => {
      broken = { name, fault };
    },
    heal,
    idle: async () => {
      while (passing > 0 || Date.now() - lastChange < 50) await new Promise((done) => setTimeout(done, 10));
    },
    close: async () => {
      heal();
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Sends the request to the stack and returns the whole reply. */
async function replyTo(request: IncomingMessage, agent: Agent): Promise<Reply> {
  const { 'proxy-connection': _proxy, ...headers } = request.headers;
  const onward = ask(new URL(request.url ?? ''), { method: request.method, headers, agent });
  request.pipe(onward);
  const [reply] = (await once(onward, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk);
  const { 'transfer-encoding': _chunked, connection: _connection, ...kept } = reply.headers;
  return { status: reply.statusCode ?? 502, headers: kept, body: Buffer.concat(chunks) };
}
