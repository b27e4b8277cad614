import {
  type AtomicCheck,
  type AtomicOperation,
  CommitMissingError,
  InvalidOptionError,
  InvalidVersionstampError,
  type KeyOrder,
  type Kv,
  type KvCommitError,
  type KvCommitResult,
  type KvEnqueueOptions,
  type KvKey,
  type KvKeyPart,
  type KvMutation,
  type KvSetKey,
  KvU64,
} from "@keywright/core";
import { bufferedValue, type NumberStep } from "./buffer/buffered-write.js";
import { copyOfKey, type KeyId, keyIdOf } from "./buffer/key-id.js";
import type { SetUntilOptions } from "./buffer/set-until.js";
import type { PendingChange } from "./buffer/write-buffer.js";

export interface PendingCheck extends AtomicCheck {
  readonly id: KeyId;
}

export interface TransactionAtomicContext {
  readonly kv: Kv;
  readonly order: KeyOrder;
  apply(
    checks: readonly PendingCheck[],
    changes: readonly PendingChange[],
  ): Promise<KvCommitResult | KvCommitError>;
}

/** An atomic operation within a transaction. Invalid input throws when it is passed in. */
export class TransactionAtomic implements AtomicOperation {
  readonly #context: TransactionAtomicContext;
  readonly #checks: PendingCheck[] = [];
  readonly #changes: PendingChange[] = [];

  constructor(context: TransactionAtomicContext) {
    this.#context = context;
  }

  check(...checks: AtomicCheck[]): this {
    this.#checks.push(...checks.map((check) => pendingCheck(check, this.#context.order)));
    return this;
  }

  mutate(...mutations: KvMutation[]): this {
    for (const mutation of mutations) {
      const { type, key } = mutation;
      if ((type === "delete") === "value" in mutation) {
        throw new InvalidOptionError(
          "value",
          "is required for every mutation except delete, which must not have one",
          "mutate",
        );
      }
      if (type === "set") this.set(key, mutation.value, mutation);
      else if (type === "delete") this.delete(key);
      else if (type === "sum" || type === "min" || type === "max") {
        this.#step(type, key, mutation.value?.value);
      } else
        throw new InvalidOptionError(
          "type",
          'must be "set", "delete", "sum", "min" or "max"',
          "mutate",
        );
    }
    return this;
  }

  set(key: KvSetKey, value: unknown, options?: SetUntilOptions): this {
    const { kv, order } = this.#context;
    const expireIn = options?.expireIn;
    // The database validates the option.
    if (expireIn !== undefined) kv.atomic().set(["expireIn"], null, { expireIn });
    if (isEntryKey(key)) {
      const id = keyIdOf(key, order);
      const change = { id, key: copyOfKey(key), value: bufferedValue(value, options) };
      this.#changes.push({ type: "set", ...change });
      return this;
    }
    // The key ends in the placeholder for the versionstamp of the commit. The database validates
    // it.
    kv.atomic().set(key, null);
    const change = { key: [...key] as KvSetKey, value: bufferedValue(value, options) };
    this.#changes.push({ type: "setVersionstamped", ...change });
    return this;
  }

  delete(key: KvKey): this {
    const id = keyIdOf(key, this.#context.order);
    this.#changes.push({ type: "delete", id, key: copyOfKey(key) });
    return this;
  }

  sum(key: KvKey, n: bigint): this {
    return this.#step("sum", key, n);
  }

  min(key: KvKey, n: bigint): this {
    return this.#step("min", key, n);
  }

  max(key: KvKey, n: bigint): this {
    return this.#step("max", key, n);
  }

  enqueue(value: unknown, options?: KvEnqueueOptions): this {
    const optionsCopy = options && structuredClone(options);
    this.#context.kv.atomic().enqueue(value, optionsCopy);
    this.#changes.push({ type: "enqueue", value: bufferedValue(value), options: optionsCopy });
    return this;
  }

  commit(): Promise<KvCommitResult | KvCommitError> {
    // Copied, because what is added to the operation after this call is not part of this commit.
    return this.#context.apply([...this.#checks], [...this.#changes]);
  }

  /** Makes an `await` of the operation itself, without `commit()`, an error, as in Deno KV. */
  // biome-ignore lint/suspicious/noThenProperty: it is there to be found by `await`.
  then(): never {
    throw new CommitMissingError();
  }

  #step(type: NumberStep["type"], key: KvKey, n: unknown): this {
    const { value: operand } = new KvU64(n as bigint);
    const id = keyIdOf(key, this.#context.order);
    this.#changes.push({ type: "step", id, key: copyOfKey(key), step: { type, operand } });
    return this;
  }
}

export function pendingCheck({ key, versionstamp }: AtomicCheck, order: KeyOrder): PendingCheck {
  const isValid =
    versionstamp === null ||
    (typeof versionstamp === "string" && /^[0-9a-f]{20}$/.test(versionstamp));
  if (!isValid) throw new InvalidVersionstampError(versionstamp);
  return { id: keyIdOf(key, order), key: copyOfKey(key), versionstamp };
}

function isEntryKey(key: KvSetKey): key is readonly KvKeyPart[] {
  return !Array.isArray(key) || typeof key.at(-1) !== "symbol";
}
