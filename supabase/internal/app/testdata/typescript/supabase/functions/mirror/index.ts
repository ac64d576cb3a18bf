Deno.serve(async (request, info) => {
  const docker = await fetch('http://kong:8000/auth/v1/health', {
    headers: { apikey: Deno.env.get('SUPABASE_ANON_KEY')! },
  });
  return Response.json({
    url: request.url,
    copy: new Request(request).url,
    method: request.method,
    prefix: request.headers.get('x-forwarded-prefix'),
    host: request.headers.get('x-forwarded-host'),
    address: info.remoteAddr.hostname,
    docker: docker.status,
    main: import.meta.main,
  });
});
