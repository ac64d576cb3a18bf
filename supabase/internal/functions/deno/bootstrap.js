// Runs in each process before the function. It serves a private socket at once, and gives the
// function the parts of Supabase's runtime that Deno does not have.
await (async () => {
  const take = (name) => {
    const value = Deno.env.get(name);
    Deno.env.delete(name);
    return value;
  };
  const socket = take('DAAWO_FUNCTION_SOCKET');
  const node = take('DAAWO_FUNCTION_NODE');
  const inside = new URL(Deno.env.get('SUPABASE_URL') ?? 'http://127.0.0.1');
  for (const name of Object.keys(Deno.env.toObject())) {
    if (name.startsWith('DENO_') && name !== 'DENO_DEPLOYMENT_ID') Deno.env.delete(name);
  }
  for (const name of ['HOME', 'PATH', 'NO_COLOR', 'TMPDIR', 'NPM_CONFIG_REGISTRY', 'JSR_URL']) Deno.env.delete(name);

  // Requests of a unix socket have URLs with its path. The function sees the address of the caller.
  const url = Object.getOwnPropertyDescriptor(Request.prototype, 'url').get;
  const prefix = 'http+unix://';
  const hosts = new WeakMap();
  const pathOf = (raw) => raw.slice(raw.indexOf('/', prefix.length));
  Object.defineProperty(Request.prototype, 'url', {
    configurable: true,
    enumerable: true,
    get() {
      const raw = url.call(this);
      return raw.startsWith(prefix) ? `http://${hosts.get(this) ?? this.headers.get('host') ?? 'localhost'}${pathOf(raw)}` : raw;
    },
  });

  // Names of Supabase's containers lead to this stack.
  const fetchAsIs = globalThis.fetch;
  const moved = (target) => {
    if (target.hostname === 'host.docker.internal') target.hostname = '127.0.0.1';
    else if (target.hostname === 'kong' || target.hostname === 'api.supabase.internal') {
      [target.protocol, target.host] = [inside.protocol, inside.host];
      if (!inside.port) target.port = '';
    } else return null;
    return target.href;
  };
  globalThis.fetch = function fetch(input, init) {
    const text = input instanceof Request ? input.url : String(input);
    if (/^https?:\/\/(kong|host\.docker\.internal|api\.supabase\.internal)[:/]/.test(text)) {
      const to = moved(new URL(text));
      input = input instanceof Request ? new Request(to, input) : to;
    }
    return fetchAsIs(input, init);
  };

  let handler;
  let onError;
  let registered;
  let refuse;
  let answer = '';
  const ready = new Promise((resolve) => {
    registered = resolve;
  });
  const refused = new Promise((resolve) => {
    refuse = resolve;
  });
  const address = { transport: 'tcp', hostname: '0.0.0.0', port: 8000 };
  const never = new Promise(() => {});
  const register = (next, errors) => {
    handler = next;
    onError = errors;
    server.ref();
    registered();
  };

  const background = new Set();
  const waitUntil = (promise) => {
    const done = Promise.resolve(promise).then(
      () => background.delete(done),
      (error) => {
        background.delete(done);
        console.error('background task failed:', error);
      },
    );
    background.add(done);
    return promise;
  };
  globalThis.EdgeRuntime = Object.freeze({ waitUntil });
  globalThis.Supabase = Object.freeze({
    ai: Object.freeze({
      Session: class {
        // only a call fails, because functions make sessions while they start
        async run() {
          throw new Error('Supabase.ai is not available: call a model over HTTP');
        }
      },
    }),
  });

  const fail = (error) => {
    console.error(error);
    return new Response('Internal Server Error', { status: 500 });
  };
  const internal = async (request, path) => {
    if (path === '/_internal/boot') {
      const problem = await Promise.race([ready, refused]);
      return new Response(problem ?? answer, { status: problem ? 500 : 200 });
    }
    globalThis.dispatchEvent(new CustomEvent('beforeunload', { detail: { reason: await request.text() } }));
    while (background.size > 0) await Promise.all(background);
    return new Response();
  };
  const serve = Deno.serve;
  const server = serve({ path: socket, onListen() {}, onError: (error) => (onError ?? fail)(error) }, async (request, info) => {
    const path = pathOf(url.call(request));
    if (path.startsWith('/_internal/')) return internal(request, path);
    hosts.set(request, request.headers.get('host'));
    if (!handler) await ready;
    const hostname = request.headers.get('x-forwarded-for')?.split(',')[0].trim() || '127.0.0.1';
    return handler(request, { remoteAddr: { transport: 'tcp', hostname, port: 0 }, completed: info.completed });
  });
  server.unref(); // otherwise Deno waits for its end before it runs the function
  // From here on nothing can be written, and the socket cannot be opened.
  Deno.permissions.revokeSync({ name: 'write', path: socket });
  Deno.permissions.revokeSync({ name: 'read', path: socket });

  Deno.serve = (first, second) => {
    const options = (typeof first === 'function' ? second : first) ?? {};
    const next = typeof first === 'function' ? first : (second ?? first?.handler);
    if (typeof next !== 'function') throw new TypeError('Deno.serve needs a handler');
    register(next, options.onError);
    options.onListen?.({ ...address, port: options.port ?? address.port });
    return {
      addr: address,
      finished: never,
      ref() {},
      unref() {},
      shutdown: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  };

  // Deno.listen with Deno.serveHttp, as std/http used them: one connection with all requests.
  const events = [];
  const takers = [];
  const push = (event) => (takers.length > 0 ? takers.shift()(event) : events.push(event));
  const next = () => (events.length > 0 ? Promise.resolve(events.shift()) : new Promise((take) => takers.push(take)));
  Deno.listen = (options) => {
    register((request) => new Promise((resolve, reject) => {
      push({ request, respondWith: (response) => Promise.resolve(response).then(resolve, reject) });
    }));
    let accepted = false;
    const listener = {
      addr: { ...address, port: options?.port ?? address.port },
      rid: 0,
      close() {},
      ref() {},
      unref() {},
      [Symbol.dispose]() {},
      accept() {
        if (accepted) return never;
        accepted = true;
        return Promise.resolve({ rid: 0, localAddr: listener.addr, remoteAddr: address, close() {} });
      },
      async *[Symbol.asyncIterator]() {
        for (;;) yield await listener.accept();
      },
    };
    return listener;
  };
  Deno.serveHttp = () => ({
    rid: 0,
    close() {},
    nextRequest: next,
    [Symbol.dispose]() {},
    async *[Symbol.asyncIterator]() {
      for (;;) yield await next();
    },
  });

  // Servers of node:http, such as Express, get a socket of their own, on which they answer the calls.
  if (node) {
    const { Server } = await import('node:http');
    const listen = Server.prototype.listen;
    Server.prototype.listen = function (...args) {
      if (answer) return listen.apply(this, args);
      answer = 'node';
      const listening = args.findLast((arg) => typeof arg === 'function');
      this.once('listening', () => {
        for (const name of ['read', 'write']) Deno.permissions.revokeSync({ name, path: node });
        server.ref();
        registered();
      });
      return listen.call(this, { path: node }, listening);
    };
  }

  // A module without a call of Deno.serve may export its handler.
  addEventListener('load', async () => {
    server.ref();
    if (handler || answer) return;
    const main = (await import(Deno.mainModule)).default;
    const exported = typeof main === 'function' ? main : main?.fetch?.bind(main);
    if (handler || answer) return;
    if (exported) register(exported);
    else setTimeout(() => refuse('the function does not call Deno.serve and exports no default handler'), 5000);
  });
})();
