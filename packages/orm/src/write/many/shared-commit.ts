import {
  type AtomicCheck,
  type AtomicOperation,
  CommitMissingError,
  type KvCommitError,
  type KvCommitResult,
  type KvEnqueueOptions,
  type KvKey,
  type KvLimits,
  type KvMutation,
  type KvSetKey,
  specificationOrder,
} from "@keywright/core";
import { currentTime, type Time } from "../../model/rows/time.js";
import { type KeyId, keyIdOf } from "../../state/transaction/buffer/key-id.js";
import {
  type SetUntilOptions,
  withRemainingLifetime,
} from "../../state/transaction/buffer/set-until.js";

/** Repeats a step on another operation, which is committed `now`. */
type Step = (operation: AtomicOperation, now: Time) => unknown;

/** Records its steps for a commit that it shares with other operations. */
export class RecordedOperation implements AtomicOperation {
  readonly #onCommit: (operation: RecordedOperation) => Promise<KvCommitResult | KvCommitError>;
  readonly #steps: Step[] = [];
  readonly checks: AtomicCheck[] = [];
  /** The keys that it sets or deletes. Other operations may change the same sums. */
  readonly written: KvKey[] = [];
  mutations = 0;

  constructor(onCommit: (operation: RecordedOperation) => Promise<KvCommitResult | KvCommitError>) {
    this.#onCommit = onCommit;
  }

  check(...checks: AtomicCheck[]): this {
    this.checks.push(...checks);
    return this;
  }

  mutate(...mutations: KvMutation[]): this {
    for (const mutation of mutations) {
      if (mutation.type === "set" || mutation.type === "delete") this.#noteWritten(mutation.key);
      this.#record((operation) => operation.mutate(mutation));
    }
    return this;
  }

  set(key: KvSetKey, value: unknown, options?: SetUntilOptions): this {
    this.#noteWritten(key);
    return this.#record((operation, now) =>
      operation.set(key, value, withRemainingLifetime(options, now)),
    );
  }

  delete(key: KvKey): this {
    this.#noteWritten(key);
    return this.#record((operation) => operation.delete(key));
  }

  sum(key: KvKey, n: bigint): this {
    return this.#record((operation) => operation.sum(key, n));
  }

  min(key: KvKey, n: bigint): this {
    return this.#record((operation) => operation.min(key, n));
  }

  max(key: KvKey, n: bigint): this {
    return this.#record((operation) => operation.max(key, n));
  }

  enqueue(value: unknown, options?: KvEnqueueOptions): this {
    return this.#record((operation) => operation.enqueue(value, options));
  }

  async commit(): Promise<KvCommitResult | KvCommitError> {
    return await this.#onCommit(this);
  }

  /** Repeats the recorded mutations on another operation, without the checks. */
  applyTo(operation: AtomicOperation, now: Time): void {
    for (const step of this.#steps) step(operation, now);
  }

  // biome-ignore lint/suspicious/noThenProperty: it is there to be found by `await`, as in Deno KV.
  then(): never {
    throw new CommitMissingError();
  }

  #noteWritten(key: KvSetKey): void {
    // No other operation has a key that ends with the versionstamp of the commit.
    if (typeof key.at(-1) !== "symbol") this.written.push(key as KvKey);
  }

  #record(step: Step): this {
    this.#steps.push(step);
    this.mutations++;
    return this;
  }
}

/** Operations of which none sets or deletes a key that a later one checks, sets or deletes. */
export class SharedCommit {
  readonly #limits: Pick<KvLimits, "checks" | "mutations">;
  readonly #checks = new Map<string, AtomicCheck>();
  readonly #written = new Set<string>();
  readonly #operations: RecordedOperation[] = [];
  #mutations = 0;

  constructor(limits: Pick<KvLimits, "checks" | "mutations">) {
    this.#limits = limits;
  }

  /**
   * Adds an operation if it fits. Its checks then have the same result as in a separate commit
   * after the others. The first operation always fits.
   *
   * @throws {InvalidKeyError} if one of its keys is not valid.
   */
  add(operation: RecordedOperation): boolean {
    const idOf = idsOfKeys();
    const checks = operation.checks.map((check) => [idOf(check.key), check] as const);
    const written = operation.written.map(idOf);
    if (this.#operations.length > 0) {
      if (written.some((id) => this.#written.has(id))) return false;
      if (!checks.every(([id, check]) => this.#isCompatible(id, check))) return false;
      const added = checks.filter(([id]) => !this.#checks.has(id)).length;
      if (this.#checks.size + added > this.#limits.checks) return false;
      if (this.#mutations + operation.mutations > this.#limits.mutations) return false;
    }
    for (const [id, check] of checks) this.#checks.set(id, check);
    for (const id of written) this.#written.add(id);
    this.#mutations += operation.mutations;
    this.#operations.push(operation);
    return true;
  }

  /** Adds the checks and mutations to an operation, which is returned. */
  addTo(operation: AtomicOperation): AtomicOperation {
    operation.check(...this.#checks.values());
    const now = currentTime();
    for (const recorded of this.#operations) recorded.applyTo(operation, now);
    return operation;
  }

  #isCompatible(id: string, { versionstamp }: AtomicCheck): boolean {
    if (this.#written.has(id)) return false;
    const other = this.#checks.get(id);
    return other === undefined || other.versionstamp === versionstamp;
  }
}

/** Returns a function that computes the id of each key object once. */
function idsOfKeys(): (key: KvKey) => KeyId {
  const ids = new Map<KvKey, KeyId>();
  return (key) => {
    let id = ids.get(key);
    if (id === undefined) {
      id = keyIdOf(key, specificationOrder);
      ids.set(key, id);
    }
    return id;
  };
}
