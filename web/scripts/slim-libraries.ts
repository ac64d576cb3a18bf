import type { Plugin } from 'vite';

/** A change of a library's source. `change` must change the code, or the build fails. */
export interface Patch {
  name: string;
  file: RegExp;
  change: (code: string) => string;
}

/** Removes code of libraries that this site does not use or, because of its Content-Security-Policy, cannot use. */
export const patches: readonly Patch[] = [
  {
    // It waits for the stylesheets of a chunk. This site has one stylesheet, which fullStyles loads.
    name: 'preload helper of Vite',
    file: /vite\/preload-helper\.js$/,
    change: (code) =>
      code.includes('__vitePreload') ? 'export const __vitePreload = (load) => load()' : code,
  },
  {
    name: 'methods of <Fragment ref> in React (2 kB)',
    file: /\/react-dom-client\.production\.js$/,
    change: (code) => code.replace(/^FragmentInstance\.prototype\..*?^};$/gms, ''),
  },
  {
    // Setting displayName in statements of their own keeps Form, Link and others in the bundle.
    name: 'displayName of react-router components (3 kB)',
    file: /\/react-router\/.*\.mjs$/,
    change: (code) => code.replace(/^\w+\.displayName = .*;$/gm, ''),
  },
  {
    name: 'unused components of react-router (part of the same 3 kB)',
    file: /\/react-router\/.*\.mjs$/,
    change: (code) => code.replace(/= (React\d*\.(?:forwardRef|createContext)\()/g, '= /* @__PURE__ */ $1'),
  },
  {
    // The Content-Security-Policy forbids this <style>, and its only effect is to hide the scrollbar of the list.
    name: '<style> of Radix Select',
    file: /\/@radix-ui\/react-select\/dist\/index\.mjs$/,
    change: (code) =>
      code.replace(
        /\/\* @__PURE__ \*\/ jsx\(\s*"style",\s*\{\s*dangerouslySetInnerHTML: \{[^}]*`[^`]*`\s*\},\s*nonce\s*\}\s*\),/,
        '',
      ),
  },
];

/**
 * Applies the patches to the browser's build. The build fails if a patch has changed nothing or a replaced module is
 * not used.
 */
export function slimLibraries(list: readonly Patch[], replacedModules: readonly string[] = []): Plugin {
  const applied = new Set<string>();
  return {
    name: 'slim-libraries',
    apply: (_, { command, isSsrBuild }) => command === 'build' && !isSsrBuild,
    enforce: 'pre',
    buildStart() {
      applied.clear();
    },
    transform(code, id) {
      let changed = code;
      for (const { name, change } of list.filter((patch) => patch.file.test(id))) {
        const before = changed;
        changed = change(changed);
        if (changed !== before) applied.add(name);
      }
      return changed === code ? undefined : changed;
    },
    buildEnd(error) {
      if (error) return;
      const idle = list
        .filter(({ name }) => !applied.has(name))
        .map(({ name }) => `no change by the patch "${name}"`);
      const modules = new Set(this.getModuleIds());
      const unused = replacedModules.filter((id) => !modules.has(id)).map((id) => `no import of ${id}`);
      const problems = [...idle, ...unused];
      if (problems.length > 0)
        this.error(`libraries have changed (scripts/slim-libraries.ts): ${problems.join(', ')}`);
    },
  };
}
