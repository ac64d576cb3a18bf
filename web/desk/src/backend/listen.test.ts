import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listen, rejoinAfter } from './listen';

type Handler = (message?: object) => void;

/** A channel that the test plays the server of. */
class Channel {
  handlers: Record<string, Handler> = {};
  status: (status: string) => void = () => {};
  on(type: string, _filter: object, handler: Handler) {
    this.handlers[type] = handler;
    return this;
  }
  subscribe(status: (status: string) => void) {
    this.status = status;
    return this;
  }
}

const joined: { topic: string; options: object; channel: Channel }[] = [];
const client = {
  realtime: { setAuth: vi.fn(async () => {}) },
  channel(topic: string, options: object) {
    const channel = new Channel();
    joined.push({ topic, options, channel });
    return channel;
  },
  removeChannel: vi.fn(async () => 'ok'),
};
vi.mock('./client', () => ({ supabase: async () => client }));

beforeEach(() => {
  joined.length = 0;
  vi.clearAllMocks();
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

test('a topic is joined as a private channel with the token of the session', async () => {
  listen('reports', vi.fn());
  await vi.advanceTimersByTimeAsync(0);
  expect(client.realtime.setAuth).toHaveBeenCalled();
  expect(joined).toMatchObject([{ topic: 'reports', options: { config: { private: true } } }]);
});

test('messages are heard, also what came before they began', async () => {
  const heard = vi.fn();
  const live = vi.fn();
  listen('reports', heard, live);
  await vi.advanceTimersByTimeAsync(0);
  joined[0]?.channel.handlers.system?.({ extension: 'system', status: 'ok' });
  expect(live).toHaveBeenLastCalledWith(true);
  expect(heard).toHaveBeenCalledTimes(1);
  joined[0]?.channel.handlers.broadcast?.({});
  expect(heard).toHaveBeenCalledTimes(2);
});

test('an end by the server is heard at once, and the channel is joined again later', async () => {
  const heard = vi.fn();
  const live = vi.fn();
  listen('staff', heard, live);
  await vi.advanceTimersByTimeAsync(0);
  joined[0]?.channel.status('CLOSED');
  expect(heard).toHaveBeenCalledTimes(1);
  expect(live).toHaveBeenLastCalledWith(false);
  joined[0]?.channel.status('CLOSED'); // of the removal
  await vi.advanceTimersByTimeAsync(rejoinAfter);
  expect(heard).toHaveBeenCalledTimes(1);
  expect(joined).toHaveLength(2);
});

test('a channel that was left is not joined again', async () => {
  const heard = vi.fn();
  const leave = listen('staff', heard);
  await vi.advanceTimersByTimeAsync(0);
  leave();
  joined[0]?.channel.status('CLOSED');
  await vi.advanceTimersByTimeAsync(rejoinAfter);
  expect(heard).not.toHaveBeenCalled();
  expect(client.removeChannel).toHaveBeenCalledTimes(1);
  expect(joined).toHaveLength(1);
});

test('a topic is joined again only when its old channel was left', async () => {
  let reply = () => {};
  client.removeChannel.mockImplementationOnce(
    () =>
      new Promise((resolve) => {
        reply = () => resolve('ok');
      }),
  );
  const leave = listen('reports', vi.fn());
  await vi.advanceTimersByTimeAsync(0);
  leave();
  await vi.advanceTimersByTimeAsync(0);
  listen('reports', vi.fn());
  await vi.advanceTimersByTimeAsync(0);
  expect(joined).toHaveLength(1);
  reply();
  await vi.advanceTimersByTimeAsync(0);
  expect(joined).toHaveLength(2);
});
