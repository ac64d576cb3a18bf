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

export interface Stack {
  settings: Record<string, string>; // named as in `daawo status -o env`
  folder: string; // for files of the test; it is removed with the stack
  stop: () => Promise<void>;
}

/** Starts a stack on free ports in an empty folder, with these variables and no others. */
export async function startStack(variables: (folder: string) => NodeJS.ProcessEnv): Promise<Stack> {
  const folder = mkdtempSync(join(tmpdir(), 'daawo-e2e-'));
  chmodSync(folder, 0o755); // Postgres runs as another user if this process runs as root
  const data = join(folder, 'daawo');
  const server = spawn(binary, ['start', '--port', '0', '--data', data], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...channels, PATH: process.env.PATH, HOME: process.env.HOME, ...variables(folder) },
  });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const stop = async () => {
    server.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { settings: await status(data), folder, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function status(data: string): Promise<Record<string, string>> {
  for (let attempt = 0; ; attempt++) {
    try {
      const printed = execFileSync(binary, ['status', '--data', data, '-o', 'json'], { stdio: 'pipe' });
      return JSON.parse(printed.toString());
    } catch (error) {
      if (attempt === 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
