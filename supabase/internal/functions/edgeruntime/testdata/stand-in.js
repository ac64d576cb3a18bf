// A worker of this stand-in is a module in the same process, with its own handler.
const serve = Deno.serve;
for (const name of ['InvalidWorkerCreation', 'InvalidWorkerResponse', 'WorkerRequestCancelled', 'WorkerAlreadyRetired']) {
  Deno.errors[name] = class extends Error {};
}
const workers = new Map();
let registered;
async function create(options) {
  if (!options.maybeEntrypoint.startsWith(`file://${options.servicePath}/`)) throw new TypeError('the entrypoint is elsewhere');
  const known = workers.get(options.servicePath);
  if (known) return known;
  for (const [name, value] of options.envVars) Deno.env.set(name, value);
  registered = undefined;
  try {
    await import(options.maybeEntrypoint);
  } catch (error) {
    throw new Deno.errors.InvalidWorkerCreation(`worker boot error: ${error.message}`);
  }
  const handler = registered;
  const worker = {
    async fetch(request) {
      try {
        return await handler(request);
      } catch (error) {
        throw new Deno.errors.InvalidWorkerResponse(error.message);
      }
    },
  };
  workers.set(options.servicePath, worker);
  return worker;
}
globalThis.EdgeRuntime = { userWorkers: { create }, applySupabaseTag() {} };
Deno.serve = (handler) => {
  Deno.serve = (own) => {
    registered = own;
  };
  return serve({ hostname: Deno.env.get('STAND_IN_HOST'), port: Number(Deno.env.get('STAND_IN_PORT')), onListen() {} }, handler);
};
await import(`file://${Deno.args[0]}`);
