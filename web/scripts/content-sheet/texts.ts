/** Reads the texts of the site, the desk and the functions' pages from their source, in pairs, and writes them back. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';

/** A text in the source of one language. `start` and `end` are those of its literal. */
interface Literal {
  key: string;
  text: string;
  start: number;
  end: number;
  quote: Quote;
}

type Quote = "'" | '`' | '"';

interface Place extends Literal {
  file: string;
}

export interface Pair {
  /** File and key, without the language: 'web/src/i18n/home.ts heading'. */
  place: string;
  english?: Place;
  somali?: Place;
}

/** Folders with a folder per language, in the order of the sheet. */
const folders = ['web/src/i18n', 'web/src/content/guides', 'web/desk/src/i18n'];
/** Files with the texts of both languages. */
const pages = ['functions/submit-report/messages.go', 'functions/resource-list/texts.go'];
/** Properties of a guide that are no words. */
const notWords = /(^|\.)(slug|icon|category|type|figure\.name)$|^(sources|signs)\./;

/** Returns the texts below a checkout, each with its translation. */
export function readPairs(root: string): Pair[] {
  const inFolders = folders.flatMap((folder) =>
    readdirSync(join(root, folder, 'en')).flatMap((name) =>
      pairs(
        `${folder}/${name}`,
        literalsOf(root, `${folder}/en/${name}`),
        literalsOf(root, `${folder}/so/${name}`),
      ),
    ),
  );
  return inFolders.concat(
    pages.flatMap((file) => pairs(file, goLiterals(root, file, 'english'), goLiterals(root, file, 'somali'))),
  );
}

function pairs(name: string, english: Place[], somali: Place[]): Pair[] {
  const keys = new Set([...english, ...somali].map(({ key }) => key));
  return [...keys].map((key) => ({
    place: `${name} ${key}`,
    english: english.find((each) => each.key === key),
    somali: somali.find((each) => each.key === key),
  }));
}

function literalsOf(root: string, file: string): Place[] {
  const code = readFileSync(join(root, file), 'utf8');
  const found = literals(code);
  return (file.includes('/guides/') ? found.filter(({ key }) => !notWords.test(key)) : found).map((each) => ({
    ...each,
    file,
  }));
}

/** A node of the syntax tree (ESTree). */
interface Node {
  type: string;
  start: number;
  end: number;
  [property: string]: unknown;
}

/** Returns the texts of a module's constants. The key of a text in a function ends with its number there: 'downloads#2'. */
export function literals(code: string): Literal[] {
  const found: Literal[] = [];
  const add = (node: Node, key: string) => {
    const quote = code[node.start] as Quote;
    const text = quote === '`' ? code.slice(node.start + 1, node.end - 1) : (node.value as string);
    found.push({ key, text, start: node.start, end: node.end, quote });
  };
  const visit = (node: Node, path: string[]): void => {
    if (isText(node)) add(node, path.join('.'));
    else if (node.type === 'ObjectExpression') {
      for (const { key, value } of node.properties as { key: Node; value: Node }[]) {
        visit(value, [...path, String(key.name ?? key.value)]);
      }
    } else if (node.type === 'ArrayExpression') {
      (node.elements as Node[]).forEach((element, at) => {
        visit(element, [...path, String(at)]);
      });
    } else {
      let number = 0;
      for (const text of textsIn(node)) {
        number += 1;
        add(text, `${path.join('.')}#${number}`);
      }
    }
  };
  const { program } = parseSync('text.ts', code);
  for (const statement of program.body as unknown as Node[]) {
    const declared = (statement.declaration ?? statement) as Node;
    for (const { id, init } of (declared.declarations ?? []) as { id: Node; init: Node }[]) {
      const name = String(id.name);
      visit(init, ['text', 'guide'].includes(name) ? [] : [name]);
    }
  }
  return found;
}

function isText({ type, value }: Node) {
  return type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string');
}

/** Yields the texts of an expression, such as a function, in their order. */
function* textsIn(node: unknown): Generator<Node> {
  if (Array.isArray(node)) for (const each of node) yield* textsIn(each);
  else if (node && typeof node === 'object') {
    if (isText(node as Node)) yield node as Node;
    else for (const each of Object.values(node)) yield* textsIn(each);
  }
}

/** Fields of the functions' texts that are codes and paths. */
const codes = ['Language', 'Home', 'Other'];

/** Returns the texts of a variable of a Go file: `var somali = texts{…}`. */
function goLiterals(root: string, file: string, variable: string): Place[] {
  const code = readFileSync(join(root, file), 'utf8');
  const from = code.indexOf(`var ${variable} = texts{`);
  if (from < 0) throw new Error(`${file} has no variable ${variable}`);
  const block = code.slice(from, code.indexOf('\n}', from));
  const found = [...block.matchAll(/("?)(\w+)\1:\s*("(?:[^"\\]|\\.)*")/g)];
  return found.flatMap((match) => {
    const [all, , key = '', literal = ''] = match;
    const start = from + match.index + all.length - literal.length;
    if (codes.includes(key)) return [];
    return [{ key, text: JSON.parse(literal), start, end: start + literal.length, quote: '"', file }];
  });
}

/** Returns a text as a literal of its source. */
export function quoted({ quote }: Pick<Literal, 'quote'>, text: string) {
  if (quote === '`') return `\`${text.replaceAll('`', '\\`')}\``;
  if (quote === '"') return JSON.stringify(text);
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}
