import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { compressedForms } from './scripts/compressed-forms.ts';
import { functionsOverlay } from './scripts/functions-overlay.ts';
import { loadParts } from './scripts/load-parts.ts';
import { patches, slimLibraries } from './scripts/slim-libraries.ts';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));
const functions = fileURLToPath(new URL('../functions', import.meta.url));
const library = (path: string) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
const stack = process.env.DAAWO_URL ?? 'http://127.0.0.1:54321';

/** Modules that replace a library or a part of it in the build. */
const removeScroll = source('components/ui/remove-scroll.tsx');
const router = library('react-router/dist/production/index.mjs');
const routerDom = library('react-router/dist/production/dom-export.mjs');

export default defineConfig(({ command, isSsrBuild }) => ({
  plugins: [
    react(),
    tailwindcss(),
    slimLibraries(patches, [removeScroll, router, routerDom]),
    command === 'serve' && fillPlaceholders(),
    functionsOverlay(),
    loadParts(),
    !isSsrBuild && compressedForms(),
  ],
  resolve: {
    alias: {
      '@': source('').replace(/\/$/, ''),
      '@functions': functions,
      'react-remove-scroll': removeScroll,
      // The exports of react-router name only its development build, which has warnings for developers.
      ...(command === 'build' && {
        'react-router/dom': routerDom,
        'react-router': router,
      }),
    },
  },
  define: { RECORDINGS: JSON.stringify(recordings()), COUNTRY_NAMES: JSON.stringify(countryNames()) },
  build: isSsrBuild
    ? { emptyOutDir: true, copyPublicDir: false, minify: false }
    : {
        manifest: 'build-manifest.json',
        modulePreload: false,
        assetsInlineLimit: 0,
        rolldownOptions: {
          // boot/start-application.ts calls hydrate of entry-client.tsx. The page alone would not keep that export.
          input: ['index.html', 'src/entry-client.tsx'],
          preserveEntrySignatures: 'exports-only',
          output: {
            // Each page contains nine of these names, so the hash has the fewest characters that Rolldown allows.
            entryFileNames: 'assets/[name]-[hash:7].js',
            chunkFileNames: 'assets/[name]-[hash:7].js',
            codeSplitting: {
              groups: [
                // Two files are parsed in two short tasks. One file would block a slow processor longer.
                { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\//, priority: 3 },
                { name: 'app', test: isShared, priority: 2 },
                { name: 'app', test: /lucide-react/, minShareCount: 2, priority: 2 },
                { name: 'form', test: isFormPart, priority: 1 },
                // Few files, because every page contains the names of its own.
                {
                  name: 'pictures',
                  test: /\/illustrations\/(guide|box|bandage|calendar|capsule|cream|mother|camel)-/,
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
    include: ['src/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts'],
  },
  server: {
    proxy: Object.fromEntries(
      ['/auth/v1', '/rest/v1', '/storage/v1', '/functions/v1', '/site.json'].map((path) => [path, stack]),
    ),
  },
}));

/** Modules besides React that nearly every page needs. In one file they compress better and cost one round trip. */
function isShared(id: string) {
  const library = /node_modules\/(react-router|react-router-dom|clsx)\//;
  const own =
    /\/src\/(application|layout|routes|backend\/has-session|i18n\/[a-z]+\.ts|site-config|lib\/(?!file-)|components\/(?!ui\/(select|popover|remove-scroll|sonner)))/;
  return (
    library.test(id) ||
    own.test(id) ||
    id.includes('rolldown/runtime') ||
    id.includes('lucide-react/dist/esm/createLucideIcon')
  );
}

/** Small modules that the report form and its late parts share. They are one file instead of eight. */
function isFormPart(id: string) {
  return (
    /\/screens\/report\/(report|clean-text|expiry-date|place-field|validate-report|use-draft)\.tsx?$/.test(
      id,
    ) || id.endsWith('/submit-report/limits.json')
  );
}

/** Returns the recordings of guides: public/audio/<language>/<slug>.<extension>. */
function recordings() {
  const folder = fileURLToPath(new URL('public/audio', import.meta.url));
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [];
}

/** Returns the names of all countries in both languages (src/content/countries.ts). */
function countryNames() {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  const namesIn = (language: string) => {
    if (Intl.DisplayNames.supportedLocalesOf(language).length === 0)
      throw new Error(`this Node has no names of countries in "${language}"`);
    const names = new Intl.DisplayNames(language, { type: 'region', style: 'short', fallback: 'none' });
    return Object.fromEntries(codes.map((code) => [code, names.of(code)]).filter(([, name]) => name));
  };
  return { en: namesIn('en'), so: namesIn('so') };
}

/** Fills the placeholders of an installation in development. In production the gateway does. */
function fillPlaceholders(): Plugin {
  const values: Record<string, string> = {
    __SITE_URL__: 'http://localhost:5173',
    __WHATSAPP_NUMBER__: '252610000000',
    __CONTACT_EMAIL__: 'support@example.org',
    __FACEBOOK_URL__: 'https://www.facebook.com/',
    __ORGANISATION_PEOPLE__: '',
    __ORGANISATION_ADDRESS__: '',
    __ORGANISATION_PARTNERS__: '',
    __ORGANISATION_REVIEWERS__: '',
  };
  return {
    name: 'fill-placeholders',
    transformIndexHtml: (html) => html.replace(/__[A-Z_]+__/g, (token) => values[token] ?? token),
  };
}
