import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plain } from "../build/markdown.mjs";
import { root } from "../build/page-list.mjs";

/** The sections of docs/errors.md with errors that a program in a browser can get. */
const sections = /^## The database\n[\s\S]*(?=^## The `keywright` command)/m;

/**
 * Returns what docs/errors.md says about each code in the first paragraph of its section, without
 * the name of the class.
 *
 * ```text
 * { KW_KEY_MALFORMED: "The bytes that were passed to decodeKey are not an encoded key. …", … }
 * ```
 */
export function remedies() {
  const [text] = sections.exec(readFileSync(join(root, "docs/errors.md"), "utf8"));
  const found = text.matchAll(/^### (KW_\w+)\n\n([\s\S]*?)\n\n/gm);
  return Object.fromEntries(
    Array.from(found, ([, code, paragraph]) => [
      code,
      plain(paragraph.replaceAll("\n", " ")).replace(/^\w+Error( of [^.,]+)?(, [^.]*)?\. /, ""),
    ]),
  );
}
