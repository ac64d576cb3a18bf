import { startStack } from './own-stack';

/**
 * Starts a stack on free ports in an empty folder, unless the environment names one. Returns a function that stops it.
 */
export default async function globalSetup() {
  if (process.env.DAAWO_URL ?? process.env.API_URL) return undefined;
  const stack = await startStack(() => ({
    SUPABASE_AUTH_OAUTH_SERVER_ENABLED: 'true', // off by default
    ...process.env,
  }));
  // The workers inherit this environment: addresses and keys, named as in the official CLI.
  Object.assign(process.env, stack.settings);
  return stack.stop;
}
