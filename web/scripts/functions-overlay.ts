import type { Plugin } from 'vite';

/** The header in which a function's reply carries the compiler error of the functions, in development only. */
const header = 'x-functions-problem';

/** Shows the compiler error of the functions in Vite's overlay as soon as a call of the page itself gets it. */
export const functionsOverlay = (): Plugin => ({
  name: 'functions-overlay',
  apply: 'serve',
  transformIndexHtml: () => [
    { tag: 'script', injectTo: 'head-prepend', children: `(${watchFunctions})(${JSON.stringify(header)})` },
  ],
});

/** Watches the replies to the page's requests. It runs in the browser and uses nothing outside of itself. */
export function watchFunctions(name: string) {
  const send = window.fetch;
  window.fetch = async (...request) => {
    const reply = await send(...request);
    const problem = reply.headers.get(name);
    const Overlay = customElements.get('vite-error-overlay');
    for (const old of document.querySelectorAll('vite-error-overlay[data-functions]')) old.remove();
    if (problem && Overlay) {
      const overlay = new (Overlay as new (error: object) => HTMLElement)({
        message: `The functions do not compile; the last version replied.\n\n${decodeURIComponent(problem)}`,
        stack: '',
        plugin: 'functions',
      });
      overlay.dataset.functions = '';
      document.body.append(overlay);
    }
    return reply;
  };
}
