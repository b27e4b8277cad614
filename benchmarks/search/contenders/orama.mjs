// Orama keeps its index in memory. Its size is that of the JSON in which it is stored.
import { pathToFileURL } from "node:url";
import { peer } from "../../contenders/peer.mjs";

export const title = "Orama (in memory)";
export const keepsTexts = false;

export async function open() {
  const { create, insert, insertMultiple, save, search } = await import(
    pathToFileURL(peer.resolve("@orama/orama"))
  );
  const { stemmer } = await import(pathToFileURL(peer.resolve("@orama/stemmers/english")));
  const index = create({
    schema: { title: "string", body: "string" },
    components: { tokenizer: { language: "english", stemming: true, stemmer, stopWords: [] } },
  });
  return {
    load: (documents) => insertMultiple(index, documents, 1000),
    create: (document) => insert(index, document),
    finish: () => {},
    bytes: () => Buffer.byteLength(JSON.stringify(save(index))),
    canAnswer: ({ phrase }) => phrase === undefined,
    search: async ({ words, prefix, typo }, limit) => {
      const { hits } = await search(index, {
        term: prefix ?? typo ?? words.join(" "),
        exact: prefix === undefined && typo === undefined,
        tolerance: typo === undefined ? 0 : 1,
        threshold: 0,
        boost: { title: 4 },
        limit,
      });
      return hits.map(({ id }) => Number(id));
    },
    close: () => {},
  };
}
