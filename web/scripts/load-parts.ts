import type { Plugin, Rolldown } from 'vite';

/** What Vite replaces with a list of styles. This site has one stylesheet, which fullStyles loads. */
const stylesOfPart = /,\s*__VITE_PRELOAD__/g;

/** A dynamic import of a chunk of the build. */
const dynamicImport = /\bimport\((["'`])\.\/([^"'`]+)\1\)/g;

/**
 * Writes loadPart(…) in place of each import() in the browser's build, with the part's address and the addresses of all
 * files that it imports and that the importing file does not (src/lib/load-part.ts). The names are placeholders at this
 * time, which Rolldown fills in after it has computed the hashes of the files.
 */
export function loadParts(): Plugin {
  return {
    name: 'load-parts',
    apply: (_, { command, isSsrBuild }) => command === 'build' && !isSsrBuild,
    renderChunk: {
      order: 'post',
      handler(code, chunk, _, { chunks }) {
        const left = new Set(chunk.dynamicImports);
        const present = staticFiles(chunk.fileName, chunks);
        const folder = chunk.fileName.replace(/[^/]*$/, '');
        const changed = code.replace(dynamicImport, (_, _quote, name) => {
          left.delete(folder + name);
          const needed = [...staticFiles(folder + name, chunks)].filter((file) => !present.has(file));
          return `loadPart(${needed.map((file) => `"/${file}"`)})`;
        });
        if (left.size > 0)
          this.error(`${chunk.fileName} imports ${[...left]} in another form (scripts/load-parts.ts)`);
        return { code: changed.replace(stylesOfPart, ''), map: null };
      },
    },
  };
}

/** Returns a file and all files that it imports statically, directly or not. */
function staticFiles(
  file: string,
  chunks: Record<string, Rolldown.RenderedChunk>,
  found = new Set<string>(),
): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const imported of chunks[file]?.imports ?? []) staticFiles(imported, chunks, found);
  return found;
}
