import type { RealtimeChannel } from '@supabase/supabase-js';
import { supabase } from './client';
import { attendance, type Here } from './presence';

/** Milliseconds after which a channel that failed or ended is joined again. */
export const rejoinAfter = 300_000;

/** The last leave. Until its reply the client returns the old channel, which cannot be joined again. */
let left: Promise<unknown> = Promise.resolve();

/** Shows this member on a channel: the reports to show, and who else is there. */
interface Presence {
  member: string;
  changed: (here: Here) => void;
  /** Gets the function that shows the open report. The server ends a channel that shows too often. */
  ready: (show: (report: string | null) => void) => void;
}

/**
 * Calls heard for each message of a private channel, which has no content, and when messages begin
 * or the server ends the channel. Calls live with whether messages arrive; without Realtime the page
 * refreshes by itself. Returns a function that leaves the channel.
 */
export function listen(
  topic: 'reports' | 'resources' | 'staff',
  heard: () => void,
  live: (joined: boolean) => void = () => {},
  presence?: Presence,
): () => void {
  let channel: RealtimeChannel | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const join = async () => {
    const client = await supabase();
    await client.realtime.setAuth();
    await left;
    if (stopped) return;
    const joined = client.channel(topic, {
      config: {
        private: true,
        broadcast: { replication_ready: true },
        ...(presence && { presence: { key: presence.member } }),
      },
    });
    channel = joined;
    if (presence) {
      const { join: come, leave, here } = attendance();
      joined
        .on('presence', { event: 'join' }, (message) => {
          come(message as unknown as Parameters<typeof come>[0]);
          presence.changed(here());
        })
        .on('presence', { event: 'leave' }, (message) => {
          leave(message as unknown as Parameters<typeof leave>[0]);
          presence.changed(here());
        });
    }
    joined
      .on('broadcast', { event: '*' }, () => heard())
      // Messages arrive from this one on, not from the join; it follows within a second. What
      // happened between is fetched.
      .on('system', {}, (message: { extension?: string; status?: string }) => {
        if (channel !== joined || message.extension !== 'system' || message.status !== 'ok') return;
        live(true);
        heard();
        presence?.ready((report) => void joined.track({ report }));
      })
      .subscribe((status) => {
        if (channel !== joined || status === 'SUBSCRIBED') return;
        live(false);
        channel = undefined;
        void client.removeChannel(joined);
        if (status === 'CLOSED') heard(); // the access may have ended
        retry = setTimeout(join, rejoinAfter);
      });
  };
  void join();
  return () => {
    stopped = true;
    clearTimeout(retry);
    const old = channel;
    channel = undefined;
    if (old) left = supabase().then((client) => client.removeChannel(old));
  };
}
