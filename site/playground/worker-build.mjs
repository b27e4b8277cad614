/** Leaves out the messages of Zod in other languages, which are a tenth of the worker. */
const englishMessages = {
  name: "english-messages-of-zod",
  load: (id) =>
    /\/zod\/v4\/locales\/index\.js$/.test(id) ? 'export { default as en } from "./en.js";' : null,
};

/** Lets errors keep the names of their classes, which are otherwise shortened. */
const namesOfErrors = {
  name: "names-of-errors",
  transform(code) {
    const names = Array.from(
      code.matchAll(/^export class (\w+Error|KvU64)\b/gm),
      ([, name]) => name,
    );
    if (names.length === 0) return null;
    const lines = names.map(
      (name) => `Object.defineProperty(${name}, "name", { value: "${name}" });`,
    );
    return { code: `${code}\n${lines.join("\n")}`, map: null };
  },
};

/** How Vite builds the worker: as one file, so that it can be started again without a network. */
export const playgroundWorker = {
  plugins: () => [englishMessages, namesOfErrors],
  rollupOptions: { output: { inlineDynamicImports: true } },
};
