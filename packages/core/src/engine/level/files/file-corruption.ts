import { CorruptionError } from "../../../errors/core-errors.js";
import type { FileDamage } from "../../files/file-report.js";

/** Returns the error of a database with damaged files. It names the first of them. */
export function fileCorruption(
  damages: readonly [FileDamage, ...FileDamage[]],
  path: string,
): CorruptionError {
  const [{ file, offset, reason, firstKey, lastKey }, ...others] = damages;
  const more =
    others.length === 0 ? "" : `; ${others.length} more of its files' places are damaged`;
  const place = offset === 0 ? `its file ${file}` : `its file ${file}, from byte ${offset} on`;
  const text = `${place}: ${reason}${more}`;
  return new CorruptionError(text, undefined, undefined, path, { file, firstKey, lastKey });
}
