import { defineConfig } from 'vitest/config';

/** The contract of any stack that carries the site: run with the variables that `daawo status -o env` prints. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    environment: 'node',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    fileParallelism: false,
  },
});
