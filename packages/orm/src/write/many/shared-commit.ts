import {
  type AtomicCheck,
  type AtomicOperation,
  CommitMissingError,
  type Kv,
  type KvCommitError,
  type KvCommitResult,
  type KvEnqueueOptions,
  type KvKey,
  type KvLimits,
  type KvMutation,
  type KvSetKey,
  specificationOrder,
} from "@keywright/core";
import { keyIdOf } from "../../transaction/key-id.js";
import { renewed, type SetUntilOptions } from "../../transaction/set-until.js";

/** One thing that an atomic operation does, to be done again with another, which is committed `now`. */
type Step = (operation: AtomicOperation, now: number) => unknown;

/** A key's id, found once however often the key is used. */
type IdOf = (key: KvKey) => string;

/** An atomic operation that writes down what it is to do, for a commit that it shares with others. */
export class RecordedOperation implements AtomicOperation {
  readonly #onCommit: (operation: RecordedOperation) => Promise<KvCommitResult | KvCommitError>;
  readonly #steps: Step[] = [];
  readonly checks: AtomicCheck[] = [];
  /** The keys that it sets or deletes. What is counted up may be counted up by others too. */
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
      if (mutation.type === "set" || mutation.type === "delete") this.#write(mutation.key);
      this.#do((operation) => operation.mutate(mutation));
    }
    return this;
  }

  set(key: KvSetKey, value: unknown, options?: SetUntilOptions): this {
    this.#write(key);
    return this.#do((operation, now) => operation.set(key, value, renewed(options, now)));
  }

  delete(key: KvKey): this {
    this.#write(key);
    return this.#do((operation) => operation.delete(key));
  }

  sum(key: KvKey, n: bigint): this {
    return this.#do((operation) => operation.sum(key, n));
  }

  min(key: KvKey, n: bigint): this {
    return this.#do((operation) => operation.min(key, n));
  }

  max(key: KvKey, n: bigint): this {
    return this.#do((operation) => operation.max(key, n));
  }

  enqueue(value: unknown, options?: KvEnqueueOptions): this {
    return this.#do((operation) => operation.enqueue(value, options));
  }

  async commit(): Promise<KvCommitResult | KvCommitError> {
    return await this.#onCommit(this);
  }

  /** Does to another operation what was written down here, its checks aside. */
  applyTo(operation: AtomicOperation, now: number): void {
    for (const step of this.#steps) step(operation, now);
  }

  // biome-ignore lint/suspicious/noThenProperty: it is there to be found by `await`, as in Deno KV.
  then(): never {
    throw new CommitMissingError();
  }

  #write(key: KvSetKey): void {
    // A key that ends in the versionstamp of the commit is nobody else's.
    if (typeof key.at(-1) !== "symbol") this.written.push(key as KvKey);
  }

  #do(step: Step): this {
    this.#steps.push(step);
    this.mutations++;
    return this;
  }
}

/** Operations that can be one commit: none of them writes what another, behind it, checks or writes. */
export class SharedCommit {
  readonly #limits: Pick<KvLimits, "checks" | "mutations">;
  readonly #checks = new Map<string, AtomicCheck>();
  readonly #written = new Set<string>();
  readonly #operations: RecordedOperation[] = [];
  #mutations = 0;

  constructor(limits: Pick<KvLimits, "checks" | "mutations">) {
    this.#limits = limits;
  }

  get operations(): readonly RecordedOperation[] {
    return this.#operations;
  }

  /**
   * Adds an operation where it fits: its checks then mean the same as they would in a commit of its own behind the others.
   * The first one always fits.
   *
   * @throws {InvalidKeyError} for one with what is no key.
   */
  add(operation: RecordedOperation): boolean {
    const idOf = idsOfKeys();
    const checks = operation.checks.map((check) => [idOf(check.key), check] as const);
    const written = operation.written.map(idOf);
    if (this.#operations.length > 0) {
      if (!written.every((id) => !this.#written.has(id))) return false;
      if (!checks.every(([id, check]) => this.#agrees(id, check))) return false;
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

  /** Makes the commit. */
  async commit(kv: Kv): Promise<KvCommitResult | KvCommitError> {
    const operation = kv.atomic().check(...this.#checks.values());
    const now = Date.now();
    for (const own of this.#operations) own.applyTo(operation, now);
    return await operation.commit();
  }

  #agrees(id: string, { versionstamp }: AtomicCheck): boolean {
    if (this.#written.has(id)) return false;
    const other = this.#checks.get(id);
    return other === undefined || other.versionstamp === versionstamp;
  }
}

function idsOfKeys(): IdOf {
  const ids = new Map<KvKey, string>();
  return (key) => {
    let id = ids.get(key);
    if (id === undefined) {
      id = keyIdOf(key, specificationOrder);
      ids.set(key, id);
    }
    return id;
  };
}
