import { prerender } from 'react-dom/static';
import { StaticRouter } from 'react-router-dom';
import { Application } from '@/application';
import { loadPage, Pages } from '@/routes';

/** Renders one page. React writes the tags for <head> first, then the body. */
export async function render(path: string): Promise<{ head: string; body: string }> {
  const pages = new Pages(path, await loadPage(path));
  const page = (
    <StaticRouter location={path}>
      <Application pages={pages} />
    </StaticRouter>
  );
  const { prelude } = await prerender(page, {
    onError: (error) => {
      throw error;
    },
  });
  const html = await new Response(prelude).text();
  const head = /^(?:<title>.*?<\/title>|<meta[^>]*>|<link[^>]*>)*/s.exec(html)?.[0] ?? '';
  return { head, body: html.slice(head.length) };
}
