import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { compressedForms } from '../scripts/compressed-forms.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const stack = process.env.DESK_URL ?? 'http://127.0.0.1:54323';

const library = (path: string) => here(`../../node_modules/${path}`);

export default defineConfig(({ command }) => ({
  root: here('.'),
  plugins: [react(), tailwindcss(), compressedForms()],
  resolve: {
    alias: {
      '@': here('../src'),
      '@desk': here('./src'),
      '@functions': here('../../functions'),
      // The exports of react-router name only its development build, which has warnings for developers.
      ...(command === 'build' && {
        'react-router/dom': library('react-router/dist/production/dom-export.mjs'),
        'react-router': library('react-router/dist/production/index.mjs'),
      }),
    },
  },
  build: {
    outDir: here('./dist'),
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'react',
              test: /node_modules\/(react|react-dom|scheduler|react-router|react-router-dom)\//,
              priority: 3,
            },
            { name: 'supabase', test: /node_modules\/@supabase\//, priority: 3 },
            { name: 'pdf', test: /node_modules\/pdfjs-dist\//, priority: 3 },
            // What the inbox needs, and what other screens share with it or each other, is one file.
            {
              name: 'app',
              test: /\/desk\/src\/(app|session-gate|layout|screens\/(inbox|entry))/,
              priority: 2,
            },
            {
              name: 'app',
              test: /\/src\/(components|i18n|lib|session|backend|cases(?!\/e2b))\/|lucide-react/,
              minShareCount: 2,
              priority: 2,
            },
          ],
        },
      },
    },
  },
  test: {
    // Much longer than any test takes, so that a busy machine fails none.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    include: ['src/**/*.test.{ts,tsx}'],
  },
  server: {
    proxy: Object.fromEntries(
      ['/auth/v1', '/rest/v1', '/storage/v1', '/functions/v1', '/site.json'].map((path) => [path, stack]),
    ),
  },
}));
