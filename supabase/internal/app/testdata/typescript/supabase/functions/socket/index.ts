Deno.serve((request) => {
  const { socket, response } = Deno.upgradeWebSocket(request);
  socket.onmessage = (event) => socket.send(`echo ${event.data}`);
  return response;
});
