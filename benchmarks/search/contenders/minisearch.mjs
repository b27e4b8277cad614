// MiniSearch keeps its index in memory. Its size is that of the JSON in which it is stored.
import { peer } from "../../contenders/peer.mjs";

export const title = "MiniSearch (in memory)";
export const keepsTexts = false;

export async function open() {
  const stem = (await import(peer.resolve("../../node_modules/@orama/stemmers/dist/en.js")))
    .stemmer;
  const { default: MiniSearch } = await import(peer.resolve("minisearch"));
  const index = new MiniSearch({
    fields: ["title", "body"],
    storeFields: ["title", "body"],
    processTerm: (term) => stem(term.toLowerCase()),
    searchOptions: { boost: { title: 4 }, combineWith: "AND" },
  });
  return {
    load: (documents) => index.addAll(documents),
    create: (document) => index.add(document),
    finish: () => {},
    bytes: () => Buffer.byteLength(JSON.stringify(index)),
    canAnswer: ({ phrase }) => phrase === undefined,
    search: ({ words, prefix, typo }, take) => {
      const options =
        prefix !== undefined ? { prefix: true } : typo === undefined ? {} : { fuzzy: 1 };
      const text = prefix ?? typo ?? words.join(" ");
      return index
        .search(text, options)
        .slice(0, take)
        .map(({ id }) => Number(id));
    },
    close: () => {},
  };
}
