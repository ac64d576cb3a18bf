/**
 * Returns a text that changes, such as a guide's review, or undefined if there is none. The gateway fills it into
 * prerendered pages; a page that is opened from another one asks for it.
 */
export async function pageText(key: string): Promise<string | undefined> {
  const reply = await fetch(`/functions/v1/page-texts?key=${encodeURIComponent(key)}`);
  if (!reply.ok) throw new Error(`page-texts: ${reply.status}`);
  return (await reply.json())[key];
}
