import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));
const library = (path: string) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
const stack = process.env.DAAWO_URL ?? 'http://127.0.0.1:54321';

export default defineConfig(({ command, isSsrBuild }) => ({
  plugins: [react(), tailwindcss(), slimLibraries(), command === 'serve' && fillPlaceholders()],
  resolve: {
    alias: {
      '@': source('').replace(/\/$/, ''),
      'react-remove-scroll': source('components/ui/remove-scroll.tsx'),
      // The package carries a production build and names only the other, with its warnings to developers.
      ...(command === 'build' && {
        'react-router/dom': library('react-router/dist/production/dom-export.mjs'),
        'react-router': library('react-router/dist/production/index.mjs'),
      }),
    },
  },
  define: { RECORDINGS: JSON.stringify(recordings()) },
  build: isSsrBuild
    ? { emptyOutDir: true, copyPublicDir: false, minify: false }
    : {
        manifest: 'build-manifest.json',
        modulePreload: false,
        assetsInlineLimit: 0,
        rolldownOptions: {
          output: {
            // Each page names nine of them: seven signs tell the editions of one file apart as well as eight.
            entryFileNames: 'assets/[name]-[hash:7].js',
            chunkFileNames: 'assets/[name]-[hash:7].js',
            codeSplitting: {
              groups: [
                // Two files are read in two short tasks, where one would hold a slow processor up.
                { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\//, priority: 3 },
                { name: 'app', test: isShared, priority: 2 },
                { name: 'app', test: /lucide-react/, minShareCount: 2, priority: 2 },
                { name: 'form', test: isFormPart, priority: 1 },
              ],
            },
          },
        },
      },
  test: { include: ['src/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts'] },
  server: {
    proxy: Object.fromEntries(
      ['/auth/v1', '/rest/v1', '/storage/v1', '/functions/v1', '/site.json'].map((path) => [path, stack]),
    ),
  },
}));

/** What nearly every page needs beside React is one file: it compresses better, and each request costs a round trip. */
function isShared(id: string) {
  const library = /node_modules\/(react-router|react-router-dom|clsx)\//;
  const ours =
    /\/src\/(layout|routes|backend\/has-session|i18n\/[a-z]+\.ts|site-config|components\/(?!ui\/(select|popover|remove-scroll|sonner)))/;
  return (
    library.test(id) ||
    ours.test(id) ||
    id.includes('rolldown/runtime') ||
    id.includes('lucide-react/dist/esm/createLucideIcon')
  );
}

/**
 * What three libraries carry and this site cannot use. React gives a <Fragment ref> methods: 2 kB. react-router names
 * its components in statements of their own, which keeps Form, Link and their kin in the bundle: 3 kB. Radix Select
 * writes a <style> element to hide its list's scrollbar, which the Content-Security-Policy forbids, and readers want
 * to see where a list ends.
 */
function slimLibraries(): Plugin {
  return {
    name: 'slim-libraries',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      // Waits for the styles of a part: all of ours are one file, which fullStyles fetches.
      if (id.endsWith('vite/preload-helper.js')) return 'export const __vitePreload = (load) => load()';
      if (id.endsWith('/react-dom-client.production.js')) {
        return code.replace(/^FragmentInstance\.prototype\..*?^};$/gms, '');
      }
      if (id.includes('/react-router/')) {
        return code
          .replace(/= (React\d*\.(?:forwardRef|createContext)\()/g, '= /* @__PURE__ */ $1')
          .replace(/^\w+\.displayName = .*;$/gm, '');
      }
      if (id.endsWith('/@radix-ui/react-select/dist/index.mjs')) {
        const style =
          /\/\* @__PURE__ \*\/ jsx\(\s*"style",\s*\{\s*dangerouslySetInnerHTML: \{[^}]*`[^`]*`\s*\},\s*nonce\s*\}\s*\),/;
        if (!style.test(code)) this.error('Radix Select writes its style in another way now');
        return code.replace(style, '');
      }
    },
  };
}

/** Small modules that the report form and its late parts share: one file instead of six. */
function isFormPart(id: string) {
  return /\/screens\/report\/(report|countries|expiry-date|place-field|validate-report|use-draft)\.tsx?$/.test(
    id,
  );
}

/** Guides that somebody has read aloud: public/audio/<language>/<slug>.<extension>. */
function recordings() {
  const folder = fileURLToPath(new URL('public/audio', import.meta.url));
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [];
}

/** In development nobody fills the placeholders of one installation, so the dev server does. */
function fillPlaceholders(): Plugin {
  const values: Record<string, string> = {
    __SITE_URL__: 'http://localhost:5173',
    __WHATSAPP_NUMBER__: '252610000000',
    __CONTACT_EMAIL__: 'support@example.org',
    __FACEBOOK_URL__: 'https://www.facebook.com/',
  };
  return {
    name: 'fill-placeholders',
    transformIndexHtml: (html) => html.replace(/__[A-Z_]+__/g, (token) => values[token] ?? token),
  };
}
