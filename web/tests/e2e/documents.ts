import type { APIRequestContext } from '@playwright/test';
import { JSDOM } from 'jsdom';

const parser = new new JSDOM().window.DOMParser();

/** Parses a page without a browser and without running scripts. */
export async function documentAt(request: APIRequestContext, path: string): Promise<Document> {
  const response = await request.get(path);
  return parser.parseFromString(await response.text(), 'text/html');
}

/** Returns the visible text of an element. */
export function words(element: Element | null | undefined) {
  return (element?.textContent ?? '').replace(/\s+/g, ' ').trim();
}
