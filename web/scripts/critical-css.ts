import postcss, {
  type AtRule,
  type ChildNode,
  type Container,
  type Declaration,
  type Root,
  type Rule,
} from 'postcss';

/**
 * Returns the part of the stylesheet that a page uses: the rules whose classes and elements all occur in its HTML or in
 * `sources`, the code that may change that HTML, and the custom properties, keyframes and @property rules that they
 * use.
 */
export function criticalCss(stylesheet: string, html: string, sources = ''): string {
  const page: Names = { ...namesIn(html), code: sources !== '' };
  for (const [word] of sources.matchAll(/[^\s'"`]+/g)) page.classes.add(word);
  for (const [, element = ''] of sources.matchAll(/<([a-z][a-z0-9]*)/g)) page.elements.add(element);
  const root = postcss.parse(stylesheet);

  // Initial values for browsers without @property. The whole stylesheet, which is loaded later, has them.
  root.walkAtRules('layer', (layer) => {
    if (layer.params === 'components' || (layer.params === 'properties' && layer.nodes)) layer.remove();
  });
  root.walkRules((rule) => {
    if (inKeyframes(rule)) return;
    const used = rule.selectors.filter((selector) => matches(selector, page));
    if (used.length === 0) rule.remove();
    else rule.selectors = used;
  });
  root.walkDecls((declaration) => {
    if (isRedundantReset(declaration)) return void declaration.remove();
    // Tailwind reads these from the theme, and this theme does not set them.
    if (/var\(--default-font-(feature|variation)/.test(declaration.value)) return void declaration.remove();
    const next = declaration.next();
    if (next?.type === 'decl' && next.prop === declaration.prop && next.value === declaration.value)
      declaration.remove();
  });
  inlineTheme(root);
  inlineUnset(root);
  removeUnusedNames(root);
  removeEmpty(root);
  root.walkComments((comment) => {
    comment.remove();
  });
  return root
    .toString()
    .trim()
    .replace(/, (?=var|\d|"|[a-z-])/g, ',');
}

/**
 * Declarations of Tailwind's reset, by selector and property, that change nothing on our pages: the browser's own style is
 * the same, or another rule sets the property again. Only the size of each page needs them gone. A declaration that is
 * missing here only costs its bytes.
 */
const redundantResets: readonly (readonly [selector: RegExp, property: RegExp])[] = [
  [/^(?:b,)?strong$/, /^font-weight$/],
  [/^h[1-6](?:,h[1-6])*$/, /^font-(?:size|weight)$/],
  [/^summary$/, /^display$/],
  [/^html$/, /^tab-size$/],
  [/^(?:img,)?svg/, /^vertical-align$/],
  [/button/, /^(?:appearance|opacity|letter-spacing|font-(?:feature|variation)-settings)$/],
  [/^a$/, /^-webkit-text-decoration$/],
];

/** Returns whether the declaration is one of redundantResets. Its value tells it from a rule of ours for the same elements. */
function isRedundantReset({ prop, value, parent }: Declaration) {
  const selector = (parent as Rule).selector ?? '';
  const reset = /^(?:inherit|bolder|list-item|middle|button|4|1)$/.test(value);
  return reset && redundantResets.some(([rule, name]) => rule.test(selector) && name.test(prop));
}

interface Names {
  classes: Set<string>;
  elements: Set<string>;
  attributes: Set<string>;
  /** Whether code may change the page. */
  code?: boolean;
}

function namesIn(html: string): Names {
  const classes = new Set<string>();
  const elements = new Set<string>(['html', 'body', '*']);
  const attributes = new Set<string>();
  for (const [, name = '', rest = ''] of html.matchAll(/<([a-z][a-z0-9-]*)((?:\s[^>]*)?)>/gi)) {
    elements.add(name.toLowerCase());
    for (const [, attribute = '', value = ''] of rest.matchAll(/([a-z-]+)(?:="([^"]*)")?/gi)) {
      attributes.add(attribute.toLowerCase());
      if (attribute === 'class') for (const each of unescapeHtml(value).split(/\s+/)) classes.add(each);
    }
  }
  return { classes, elements, attributes };
}

function unescapeHtml(text: string) {
  return text
    .replaceAll('&amp;', '&')
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&#x27;', "'");
}

/** Pseudo-elements of form controls, of which Tailwind's reset has many. */
const formControls =
  /::(?:file-selector|placeholder|-webkit-(?:search|date|calendar|inner|outer))|:-moz-ui-invalid/;

/** Whether every class, element and data attribute that the selector needs occurs on the page. */
function matches(selector: string, page: Names): boolean {
  // A rule may match although classes inside :not(), :is(), :where() or :has() are absent from the page.
  let simple = selector.replace(/^:is\((.*)\)$/, '$1');
  for (let before = ''; before !== simple; ) {
    before = simple;
    simple = simple.replace(/:(?:not|is|where|has|host|nth-[a-z-]+)\([^()]*\)/g, '');
  }
  const classes = [...simple.matchAll(/\.((?:\\.|[\w-])+)/g)].map(([, name = '']) =>
    name.replace(/\\(.)/g, '$1'),
  );
  if (!classes.every((name) => page.classes.has(name))) return false;
  // The code of a page that is hydrated may set it.
  if (selector.startsWith('[hidden]') && !page.attributes.has('hidden') && !page.code) return false;
  if (/^(:host|::backdrop|:-moz-focusring.*)$/.test(selector)) return false;
  if (formControls.test(simple) && !page.elements.has('input')) return false;
  const bare = simple
    .replace(/\.(?:\\.|[\w-])+/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/::?[\w-]+/g, '');
  const elements = bare.match(/[a-z][a-z0-9-]*/gi) ?? [];
  return elements.every((name) => page.elements.has(name.toLowerCase()));
}

function inKeyframes(rule: Rule): boolean {
  const parent = rule.parent as AtRule | undefined;
  return parent?.type === 'atrule' && parent.name.endsWith('keyframes');
}

/** Replaces uses of the theme's custom properties with their values, which never change, and computes simple calc(). */
function inlineTheme(root: Root) {
  const theme = new Map<string, string>();
  root.walkAtRules('layer', (layer) => {
    if (layer.params !== 'theme') return;
    layer.walkDecls((declaration) => {
      // The lists of fonts are long and used several times.
      if (!declaration.prop.startsWith('--font-s')) theme.set(declaration.prop, declaration.value);
    });
  });
  const written = (value: string): string => {
    const at = value.indexOf('var(--');
    if (at < 0) return value;
    const end = closing(value, at + 3);
    const inner = value.slice(at + 4, end);
    const name = /^--[\w-]+/.exec(inner)?.[0] ?? '';
    const constant = theme.get(name);
    const use =
      constant === undefined ? `var(${name}${written(inner.slice(name.length))})` : written(constant);
    return value.slice(0, at) + use + written(value.slice(end + 1));
  };
  root.walkDecls((declaration) => {
    declaration.value = written(declaration.value)
      .replace(/calc\((-?[\d.]+)(rem|px) \* (-?[\d.]+)\)/g, (_, a, unit, b) => short(a * b) + unit)
      .replace(/calc\(([\d.]+) \/ ([\d.]+)\)/g, (_, a, b) => short(a / b));
  });
}

/** Replaces uses of custom properties that no rule sets: with the initial value of @property, or with their fallback. */
function inlineUnset(root: Root) {
  const set = new Set<string>();
  root.walkDecls(/^--/, ({ prop }) => {
    set.add(prop);
  });
  const initial = new Map<string, string>();
  root.walkAtRules('property', (rule) => {
    rule.walkDecls('initial-value', ({ value }) => {
      initial.set(rule.params, value);
    });
  });
  root.walkDecls((declaration) => {
    declaration.value = declaration.value.replace(
      /var\((--[\w-]+)(?:,([^(),]*))?\)/g,
      (use, name, fallback) => (set.has(name) ? use : (initial.get(name) ?? fallback ?? use)),
    );
  });
}

function short(value: number) {
  return String(Number(value.toFixed(4))).replace(/^(-?)0\./, '$1.');
}

/** Returns the position of the parenthesis that closes the one at `from`. */
function closing(text: string, from: number) {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return at;
  }
  return text.length;
}

function removeUnusedNames(root: Root) {
  for (let removed = true; removed; ) {
    removed = false;
    const used = new Set<string>();
    root.walkDecls((declaration) => {
      for (const [name] of declaration.value.matchAll(/--[\w-]+/g)) used.add(name);
    });
    root.walkDecls(/^--/, (declaration) => {
      if (used.has(declaration.prop)) return;
      declaration.remove();
      removed = true;
    });
    root.walkAtRules('property', (rule) => {
      if (used.has(rule.params)) return;
      rule.remove();
      removed = true;
    });
    removeEmpty(root);
  }
  const animations = new Set<string>();
  root.walkDecls(/^animation/, (declaration) => {
    for (const [name] of declaration.value.matchAll(/[\w-]+/g)) animations.add(name);
  });
  root.walkAtRules(/keyframes$/, (rule) => {
    if (!animations.has(rule.params)) rule.remove();
  });
}

function removeEmpty(container: Container) {
  container.each((node: ChildNode) => {
    if (!('nodes' in node) || !node.nodes) return;
    removeEmpty(node as Container);
    if (node.nodes.length === 0) node.remove();
  });
}
