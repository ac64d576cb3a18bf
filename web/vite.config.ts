import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const stack = process.env.DAAWO_URL ?? 'http://127.0.0.1:54321';

export default defineConfig(({ command, isSsrBuild }) => ({
  plugins: [react(), tailwindcss(), command === 'serve' && fillPlaceholders()],
  resolve: {
    alias: { '@': fileURLToPath(new URL('src', import.meta.url)) },
  },
  build: isSsrBuild
    ? { emptyOutDir: true, copyPublicDir: false, minify: false }
    : {
        manifest: 'build-manifest.json',
        modulePreload: { polyfill: false },
        assetsInlineLimit: 0,
        rolldownOptions: { input: { app: 'index.html', boot: 'src/boot.ts' } },
      },
  server: {
    proxy: Object.fromEntries(
      ['/auth/v1', '/rest/v1', '/storage/v1', '/functions/v1', '/site.json'].map((path) => [path, stack]),
    ),
  },
}));

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
