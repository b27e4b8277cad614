import { fileURLToPath } from "node:url";

/** Where the built packages are. */
export const packages = new URL("../../packages/", import.meta.url);

/**
 * Returns the source of a built file with the edits of a fault.
 *
 * @throws {Error} if a text to replace is not there exactly once: the file has changed, and the
 * fault has to be planted again by hand.
 */
export function plantFault(name, { file, edits }, source) {
  let planted = source;
  for (const [text, replacement] of edits) {
    const found = planted.split(text).length - 1;
    if (found !== 1) {
      const where = fileURLToPath(new URL(file, packages));
      throw new Error(
        `The fault ${name} no longer applies: ${where} has this ${found} times: ${text}`,
      );
    }
    planted = planted.replace(text, () => replacement);
  }
  return planted;
}
