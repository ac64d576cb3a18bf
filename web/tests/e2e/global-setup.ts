import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Contact channels for the tests. */
const channels = {
  WHATSAPP_NUMBER: '252610000000',
  CONTACT_EMAIL: 'support@example.org',
  FACEBOOK_URL: 'https://www.facebook.com/example',
};

const binary = new URL('../../../bin/daawo', import.meta.url).pathname;

/**
 * Starts a stack on free ports in an empty folder, unless the environment names one. Returns a function that stops it.
 */
export default async function globalSetup() {
  if (process.env.DAAWO_URL ?? process.env.API_URL) return undefined;
  const data = mkdtempSync(join(tmpdir(), 'daawo-e2e-'));
  chmodSync(data, 0o755); // Postgres runs as another user if this process runs as root
  const server = spawn(binary, ['start', '--port', '0', '--data', join(data, 'daawo')], {
    stdio: 'inherit',
    env: { ...channels, SUPABASE_AUTH_OAUTH_SERVER_ENABLED: 'true', ...process.env }, // off by default
  });
  const ended = new Promise((resolve) => server.once('exit', resolve));

  // The workers inherit this environment: addresses and keys, named as in the official CLI.
  Object.assign(process.env, await status(join(data, 'daawo')));
  return async () => {
    server.kill('SIGTERM');
    await ended;
    rmSync(data, { recursive: true, force: true });
  };
}

async function status(data: string): Promise<Record<string, string>> {
  for (let attempt = 0; ; attempt++) {
    try {
      const printed = execFileSync(binary, ['status', '--data', data, '-o', 'json'], { stdio: 'pipe' });
      return JSON.parse(printed.toString());
    } catch (error) {
      if (attempt === 150) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
