import type { APIRequestContext } from '@playwright/test';
import { JSDOM } from 'jsdom';

const parser = new new JSDOM().window.DOMParser();

/** A page as it is before any script, read without a browser. */
export async function documentAt(request: APIRequestContext, path: string): Promise<Document> {
  const response = await request.get(path);
  return parser.parseFromString(await response.text(), 'text/html');
}

/** The words of an element as they are read, without those for nobody's eyes. */
export function words(element: Element | null | undefined) {
  return (element?.textContent ?? '').replace(/\s+/g, ' ').trim();
}
