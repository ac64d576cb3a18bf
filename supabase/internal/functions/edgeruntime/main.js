// The main service of Supabase's Edge Runtime: it lets the worker of a function answer a call. The
// server checks tokens and limits, and names the function in a header.
const take = (name) => {
  const value = Deno.env.get(name);
  Deno.env.delete(name);
  return value;
};
const key = take('DAAWO_RUNTIME_KEY');
const variables = Object.entries(JSON.parse(take('DAAWO_RUNTIME_VARIABLES')));
const { deployment, memory, cpu, wall } = JSON.parse(take('DAAWO_RUNTIME_LIMITS'));

const limit = 'Worker failed to respond due to a resource limit (please check logs)';
const failures = [
  ['InvalidWorkerCreation', 503, 'BOOT_ERROR', 'Worker failed to boot (please check logs)'],
  ['WorkerRequestCancelled', 546, 'WORKER_LIMIT', limit],
  ['WorkerRequestIdleTimeout', 504, 'IDLE_TIMEOUT', 'Function did not reply in time'],
];
const fail = (status, code, message) =>
  Response.json({ code, message, msg: message }, { status, headers: { 'sb-error-code': code } });

async function call(request, f, attempt) {
  try {
    const worker = await EdgeRuntime.userWorkers.create({
      servicePath: f.folder,
      maybeEntrypoint: f.entrypoint,
      importMapPath: f.importMap || undefined,
      staticPatterns: f.staticFiles ?? [],
      envVars: [...variables, ['DENO_DEPLOYMENT_ID', deployment.replace('NAME', f.name)]],
      memoryLimitMb: memory,
      workerTimeoutMs: wall,
      cpuTimeSoftLimitMs: cpu / 2,
      cpuTimeHardLimitMs: cpu,
      noModuleCache: false,
      noNpm: !f.packageJSON,
      forceCreate: false,
      customModuleRoot: '',
      decoratorType: 'tc39',
      context: { useReadSyncFileAPI: true },
    });
    return await worker.fetch(request);
  } catch (error) {
    const is = (name) => Deno.errors[name] && error instanceof Deno.errors[name];
    if (is('WorkerAlreadyRetired') && attempt === 1 && !request.bodyUsed) return call(request, f, 2);
    console.error(f.name, error);
    const known = failures.find(([name]) => is(name));
    if (!known) return fail(500, 'WORKER_ERROR', 'Function exited due to an error (please check logs)');
    return fail(known[1], known[2], known[2] === 'BOOT_ERROR' && f.explain ? String(error.message) : known[3]);
  }
}

Deno.serve((original) => {
  const { pathname } = new URL(original.url);
  if (pathname === '/_internal/health') return new Response();
  if (original.headers.get('x-daawo-runtime-key') !== key) return new Response(null, { status: 403 });
  const f = JSON.parse(decodeURIComponent(original.headers.get('x-daawo-function')));
  const headers = new Headers(original.headers);
  headers.delete('x-daawo-runtime-key');
  headers.delete('x-daawo-function');
  const request = new Request(original, { headers });
  EdgeRuntime.applySupabaseTag(original, request);
  return call(request, f, 1);
});
