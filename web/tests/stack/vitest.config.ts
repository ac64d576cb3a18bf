import { defineConfig } from 'vitest/config';

/** Contract tests for any stack that runs the site. They need the variables of `daawo status -o env`. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    environment: 'node',
    testTimeout: 60_000, // much longer than any test takes, so that a busy machine fails none
    hookTimeout: 60_000,
    retry: process.env.RETRY === '1' ? 1 : 0, // as in continuous integration
    fileParallelism: false,
  },
});
