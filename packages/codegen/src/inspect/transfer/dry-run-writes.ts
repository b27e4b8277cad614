import { createHash } from "node:crypto";
import type { ImportedEntry, StoredEntry } from "./determine-fates.js";

/** A file may contain a key twice. Stores digests, because values may not fit in memory. */
export class DryRunWrites {
  readonly #written = new Map<
    string,
    { readonly digest: string; readonly expireAt: number | undefined }
  >();

  add({ encodedKey, encodedValue, expireAt }: ImportedEntry): void {
    this.#written.set(encodedKey.toString("latin1"), { digest: digestOf(encodedValue), expireAt });
  }

  entryFor({ encodedKey }: ImportedEntry): StoredEntry | undefined {
    const written = this.#written.get(encodedKey.toString("latin1"));
    if (written === undefined) return undefined;
    const { digest, expireAt } = written;
    return { hasValue: (encodedValue) => digestOf(encodedValue) === digest, expireAt };
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}
