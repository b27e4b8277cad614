import { createHash } from "node:crypto";
import type { ImportedEntry, StoredEntry } from "./import-fates.js";

/**
 * What a dry run would have written so far, for a key may come twice in a file. It takes memory for each of those keys, and not
 * for their values.
 */
export class DryRunWrites {
  readonly #written = new Map<
    string,
    { readonly digest: string; readonly expireAt: number | undefined }
  >();

  add({ encodedKey, encodedValue, expireAt }: ImportedEntry): void {
    this.#written.set(encodedKey.toString("latin1"), { digest: digestOf(encodedValue), expireAt });
  }

  /** What would be under the key of an entry; undefined where that is what the database has. */
  under({ encodedKey }: ImportedEntry): StoredEntry | undefined {
    const written = this.#written.get(encodedKey.toString("latin1"));
    if (written === undefined) return undefined;
    const { digest, expireAt } = written;
    return { hasValue: (encodedValue) => digestOf(encodedValue) === digest, expireAt };
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}
