import { prerender } from 'react-dom/static';
import { ShownPage } from '@/application';
import { loadPage } from '@/routes';

/** Renders one page. React writes the tags for <head> first, then the body. */
export async function render(path: string): Promise<{ head: string; body: string }> {
  const shown = {
    place: { pathname: path, hash: '' },
    arrival: 'document',
    page: await loadPage(path),
  } as const;
  const { prelude } = await prerender(<ShownPage shown={shown} navigate={() => {}} />, {
    onError: (error) => {
      throw error;
    },
  });
  const html = await new Response(prelude).text();
  const head = /^(?:<title>.*?<\/title>|<meta[^>]*>|<link[^>]*>)*/s.exec(html)?.[0] ?? '';
  return { head, body: html.slice(head.length) };
}
