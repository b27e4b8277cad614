import type { AtomicWrite, StoredCheck, StoredMutation } from "../engine/engine.js";
import { encodeEntryKey } from "../keys/encode-key.js";
import type { KvKey } from "../keys/key.js";
import { encodeValue } from "../values/encode-value.js";
import { assertVersionstamp } from "../values/versionstamp.js";
import type { AtomicCheck, AtomicOperation, KvCommitError, KvCommitResult } from "./kv.js";

/** Gathers an atomic operation; `commitWrite` applies it. Bad input throws as it is handed over. */
export class AtomicWriteBuilder implements AtomicOperation {
  readonly #checks: StoredCheck[] = [];
  readonly #mutations: StoredMutation[] = [];
  readonly #sync: boolean;
  readonly #commitWrite: (write: AtomicWrite) => Promise<string | null>;

  constructor(sync: boolean, commitWrite: (write: AtomicWrite) => Promise<string | null>) {
    this.#sync = sync;
    this.#commitWrite = commitWrite;
  }

  check(...checks: AtomicCheck[]): this {
    const stored = checks.map(({ key, versionstamp }) => {
      if (versionstamp !== null) assertVersionstamp(versionstamp);
      return { key: encodeEntryKey(key), versionstamp };
    });
    this.#checks.push(...stored);
    return this;
  }

  set(key: KvKey, value: unknown): this {
    this.#mutations.push({
      type: "set",
      key: encodeEntryKey(key),
      value: encodeValue(value),
    });
    return this;
  }

  delete(key: KvKey): this {
    this.#mutations.push({ type: "delete", key: encodeEntryKey(key) });
    return this;
  }

  async commit(): Promise<KvCommitResult | KvCommitError> {
    const versionstamp = await this.#commitWrite({
      // Copies: what is added to the operation after this call is not part of this commit.
      checks: [...this.#checks],
      mutations: [...this.#mutations],
      sync: this.#sync,
    });
    return versionstamp === null ? { ok: false } : { ok: true, versionstamp };
  }
}
