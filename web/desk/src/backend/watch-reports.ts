import type { RealtimeChannel } from '@supabase/supabase-js';
import { supabase } from './client';

/**
 * Calls changed after each insert and update of a report, and live with whether such messages
 * arrive. Without Realtime the page refreshes by itself; after a failure it tries again every five
 * minutes.
 */
export function watchReports(changed: () => void, live: (joined: boolean) => void): () => void {
  let channel: RealtimeChannel | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const join = async () => {
    const client = await supabase();
    if (stopped) return;
    channel = client
      .channel('reports')
      .on('postgres_changes', { event: '*', schema: 'public', table: 'reports' }, changed)
      // Changes arrive from this message on, not from the join; it follows within a second. Reports
      // between are fetched.
      .on('system', {}, (message: { extension?: string; status?: string }) => {
        if (stopped || message.extension !== 'postgres_changes') return;
        live(message.status === 'ok');
        changed();
      })
      .subscribe((status) => {
        if (stopped) return;
        if (status !== 'SUBSCRIBED') live(false);
        if (status === 'CHANNEL_ERROR' || status === 'TIMED_OUT') {
          if (channel) void client.removeChannel(channel);
          client.realtime.disconnect();
          clearTimeout(retry);
          retry = setTimeout(join, 300_000);
        }
      });
  };
  void join();
  return () => {
    stopped = true;
    clearTimeout(retry);
    if (channel) void supabase().then((client) => channel && client.removeChannel(channel));
  };
}
