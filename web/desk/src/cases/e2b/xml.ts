type Attributes = Record<string, string | boolean | undefined>;
type Child = Element | string | undefined | false | readonly Child[];

/** A part of an XML document, written out. */
export interface Element {
  readonly xml: string;
}

/** Characters that XML 1.0 does not allow. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are not allowed
const illegal = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

const escaped = (text: string) =>
  text.replace(illegal, '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns an element. Attributes without a value and empty children are left out; texts are escaped. */
export function el(name: string, attributes: Attributes = {}, ...children: Child[]): Element {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escaped(String(value)).replaceAll('"', '&quot;')}"`)
    .join('');
  const inside = children.map(content).join('');
  return { xml: inside ? `<${name}${written}>${inside}</${name}>` : `<${name}${written}/>` };
}

function content(child: Child): string {
  if (!child) return '';
  if (typeof child === 'string') return escaped(child);
  return 'xml' in child ? child.xml : child.map(content).join('');
}

export const xmlDocument = (root: Element) => `<?xml version="1.0" encoding="UTF-8"?>\n${root.xml}\n`;
