import { defineConfig } from 'vitest/config';

/** Contract tests for any stack that runs the site. They need the variables of `daawo status -o env`. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    environment: 'node',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    retry: process.env.RETRY === '1' ? 1 : 0, // as in continuous integration
    fileParallelism: false,
  },
});
