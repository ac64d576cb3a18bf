const attempts: Record<string, () => unknown> = {
  write: () => Deno.writeTextFileSync('./written.txt', ''),
  temporary: () => Deno.makeTempFileSync(),
  run: () => new Deno.Command('true').outputSync(),
  read: () => Deno.readTextFileSync('/etc/passwd'),
  other: () => Deno.readTextFileSync('../hello/index.ts'),
  variables: () => Deno.readTextFileSync('/proc/self/environ'),
  library: () => Deno.dlopen('libc.so.6', {}),
};

Deno.serve(() => {
  const allowed = Object.keys(attempts).filter((name) => {
    try {
      attempts[name]();
      return true;
    } catch {
      return false;
    }
  });
  return Response.json(allowed);
});
