import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineModel } from "../src/index.js";
import { compileModel } from "../src/model/compile-model.js";
import { compileDefinition } from "../src/state/schema/manifests/compile-stored-index.js";
import { indexDifferences } from "../src/state/schema/manifests/index-differences.js";
import { indexManifest, isSameIndex } from "../src/state/schema/manifests/index-manifest.js";

const schema = z.object({
  id: z.ulid(),
  tenantId: z.string(),
  title: z.string(),
  body: z.string().optional(),
  tags: z.array(z.string()),
  views: z.number(),
  draft: z.boolean(),
});

function search(options: object) {
  const definition = { name: "posts", schema, primaryKey: "id", indexes: { search: options } };
  const model = defineModel(definition as never);
  return compileModel(model).indexes.find(({ name }) => name === "search")!;
}

describe("a full-text index", () => {
  it("has the words of strings and of arrays of strings", () => {
    const index = search({
      text: ["title", "body", "tags"],
      language: "english",
      weights: { title: 4 },
      key: ["tenantId"],
      stopWords: ["The", "and", "the"],
      where: { draft: false },
    });
    expect(index.text).toEqual({
      fields: [
        { field: "title", weight: 4 },
        { field: "body", weight: 1 },
        { field: "tags", weight: 1 },
      ],
      key: ["tenantId"],
      analyzer: {
        version: "1",
        language: "english",
        foldsMarks: true,
        stopWords: ["and", "the"],
      },
    });
    expect(index.prefix).toBe("posts_search");
    expect(index.fields).toEqual(["tenantId"]);
    expect([...index.keyFields!].sort()).toEqual(["body", "draft", "tags", "tenantId", "title"]);
    expect(index.where?.({ draft: true })).toBe(false);
  });

  it("is no index of queries, in the types and in the model", () => {
    const model = defineModel({
      name: "posts",
      schema,
      primaryKey: "id",
      indexes: { byTenant: { key: "tenantId" }, search: { text: "title" } },
    });
    const names: "byTenant"[] = Object.keys(model.indexes) as (keyof typeof model.indexes)[];
    expect(names).toEqual(["byTenant"]);
    const texts: "search"[] = Object.keys(model.textIndexes!) as never;
    expect(texts).toEqual(["search"]);
    // @ts-expect-error The schema has no field of this name.
    expect(() => defineModel({ ...model, indexes: { search: { text: "titel" } } })).toThrow();
    // @ts-expect-error A number has no words.
    expect(() => defineModel({ ...model, indexes: { search: { text: "views" } } })).toThrow();
    const weights = { body: 2 } as const;
    // @ts-expect-error The index has no words of `body`.
    expect(() => defineModel({ ...model, indexes: { s: { text: "title", weights } } })).toThrow();
  });

  it.each([
    [
      { text: ["titel"] },
      'indexes.search.text is not valid: the schema has no field "titel"; did you mean "title"?',
    ],
    [{ text: ["views"] }, 'the field "views" is no string and no array of strings'],
    [{ text: [] }, "indexes.search.text is not valid: it must name at least one field"],
    [{ text: 5 }, "indexes.search.text is not valid: it must be a list of fields"],
    [{ text: ["title", "title"] }, 'it names "title" twice'],
    [
      { text: "title", language: "englisch" },
      'there is no stemmer for "englisch"; did you mean "english"?',
    ],
    [{ text: "title", weights: { body: 2 } }, 'text does not name the field "body"'],
    [
      { text: "title", weights: { title: 0 } },
      "weights.title is not valid: it must be a number from 0.01 to 1000",
    ],
    [{ text: "title", key: "tags" }, 'a key cannot hold the values of the field "tags"'],
    [{ text: "title", key: ["tenant"] }, 'the schema has no field "tenant"'],
    [
      { text: "title", unique: true },
      "indexes.search.unique is not valid: there is no such option",
    ],
    [{ text: "title", weigths: {} }, 'did you mean "weights"?'],
    [{ text: "title", stopWords: ["not this"] }, '"not this" is not one word'],
    [{ text: "title", where: { draft: "no" } }, "by the schema, no row has this value"],
    [{ text: "title", foldMarks: 1 }, "foldMarks is not valid: it must be true or false"],
    [{ text: "title", prefix: "" }, "prefix is not valid: it must be a string that is not empty"],
  ])("is refused: %j", (options, message) => {
    expect(() => search(options)).toThrow(message);
  });
});

describe("the stored form of a full-text index", () => {
  const stored = (options: object) => indexManifest(search(options));

  it("is data from which the index is compiled again", () => {
    const options = { text: ["title", "body"], language: "german", key: "tenantId" };
    const index = search({ ...options, stopWords: ["und"], where: { draft: false } });
    const manifest = JSON.parse(JSON.stringify(indexManifest(index)));
    expect(manifest).toEqual({
      prefix: "posts_search",
      fields: ["tenantId"],
      unique: false,
      normalized: false,
      traits: {
        where: { draft: false },
        text: {
          fields: ["title", "body"],
          version: "1",
          language: "german",
          foldsMarks: true,
          stopWords: ["und"],
        },
      },
    });
    const compiled = compileDefinition("search", manifest)!;
    expect(compiled.text).toEqual(index.text);
    expect(compiled.isHidden).toBe(true);
    expect(compiled.keyFields).toEqual(index.keyFields);
    const later = { ...manifest, traits: { text: { ...manifest.traits.text, version: "2" } } };
    expect(compileDefinition("search", later)).toBeUndefined();
  });

  it("differs if and only if the words differ", () => {
    const options = { text: ["title", "body"], language: "english" };
    const now = stored(options);
    expect(isSameIndex(now, stored({ ...options, weights: { title: 9 } }))).toBe(true);
    for (const [change, difference] of [
      [{ language: "german" }, 'its language was "english" and is "german"'],
      [{ language: undefined }, 'its language was "english" and is null'],
      [{ text: ["title"] }, 'its text was ["title","body"] and is ["title"]'],
      [{ foldMarks: false }, "its foldMarks was true and is false"],
      [{ stopWords: ["the"] }, "it has other stop words"],
      [{ key: "tenantId" }, 'its key was [] and is ["tenantId"]'],
    ] as const) {
      const other = stored({ ...options, ...change });
      expect(isSameIndex(now, other)).toBe(false);
      expect(indexDifferences(now, other)).toEqual([difference]);
    }
  });
});
