import { readFileSync } from "node:fs";

/** The examples of the playground, in the order of its list. Each is a file in `examples`. */
const listed = [
  {
    name: "first-rows",
    title: "First rows",
    about: "A model with an index: rows are created, found by the index, and updated.",
  },
  {
    name: "unique-index",
    title: "A unique index that refuses",
    about:
      "Two users cannot have the same email address, whatever its case. The last call is refused, and nobody catches its error.",
  },
  {
    name: "list-by-index",
    title: "A list by an index",
    about:
      "Pages of a list in the order of an index, what `explain` says about the query, and a query that no index serves.",
  },
  {
    name: "transaction",
    title: "A transaction",
    about: "Two transfers change the same rows at the same time. A third one fails as a whole.",
  },
  {
    name: "full-text",
    title: "Full-text search",
    about: "Words, prefixes and exclusions. With a language, `jumping` finds `jumps`.",
  },
  {
    name: "live-query",
    title: "A live query",
    about: "A table that follows its rows. The buttons change them.",
  },
];

const read = (file) => readFileSync(new URL(`examples/${file}`, import.meta.url), "utf8");

/** Returns all examples with their programs and with what they print. */
export function examples() {
  return listed.map((example) => ({
    ...example,
    program: read(`${example.name}.ts`),
    output: read(`${example.name}.txt`),
  }));
}
