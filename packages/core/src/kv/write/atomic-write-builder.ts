import type {
  AtomicWrite,
  RangeCheck,
  StoredCheck,
  StoredMutation,
  StoredSet,
  Turn,
} from "../../engine/engine.js";
import { postponed } from "../../engine/turns.js";
import {
  CommitMissingError,
  InvalidOptionError,
  RangeChecksUnsupportedError,
} from "../../errors/core-errors.js";
import { encodeEntryKey, versionstampPartBytes } from "../../keys/encode-key.js";
import type { KvKey } from "../../keys/key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import { type KvListSelector, keyRange } from "../../keys/key-range.js";
import { encodeValue } from "../../values/encode-value.js";
import { KvU64 } from "../../values/kv-u64.js";
import { assertVersionstamp } from "../../values/versionstamp.js";
import {
  type AtomicCheck,
  AtomicOperation,
  type KvCommitError,
  type KvCommitResult,
  type KvEnqueueOptions,
  type KvMutation,
  type KvSetKey,
  type KvSetOptions,
} from "../atomic-operation.js";
import { expiryHint } from "../expiry/expiry-hint.js";
import { assertWithin, type KvLimits } from "../limits.js";
import { draftMessage, enqueueMutation, type MessageDraft } from "../queue/enqueue-mutation.js";
import { partsBeforeVersionstamp } from "./commit-versionstamp.js";

const u64Bytes = 8;
const typeReason = 'must be "set", "delete", "sum", "min" or "max"';

/** A mutation before its commit. Times count from the commit, which also makes the messages. */
type PendingMutation =
  | StoredMutation
  | (StoredSet & { readonly expireIn: number })
  | { readonly type: "enqueue"; readonly draft: MessageDraft };

export interface AtomicWriteOptions {
  readonly order: KeyOrder;
  readonly limits: KvLimits;
  readonly sync: boolean;
}

/** Collects an atomic operation. Invalid arguments throw at once, `commit()` checks the limits. */
export class AtomicWriteBuilder extends AtomicOperation {
  readonly #options: AtomicWriteOptions;
  readonly #commit: (write: AtomicWrite) => Promise<string | null>;
  readonly #checksRanges: boolean;
  readonly #checks: StoredCheck[] = [];
  #rangeChecks: RangeCheck[] | undefined;
  readonly #mutations: PendingMutation[] = [];
  #context: Uint8Array | undefined;
  #turn: number | undefined;
  #keyBytes = 0;
  #totalBytes = 0;

  constructor(
    options: AtomicWriteOptions,
    checksRanges: boolean,
    commit: (write: AtomicWrite) => Promise<string | null>,
  ) {
    super();
    this.#checksRanges = checksRanges;
    this.#options = options;
    this.#commit = commit;
  }

  check(...checks: AtomicCheck[]): this {
    const { length } = this.#checks;
    try {
      for (const { key, versionstamp } of checks) {
        if (versionstamp !== null) assertVersionstamp(versionstamp);
        this.#checks.push({ key: this.#encodeKey(key), versionstamp });
      }
    } catch (error) {
      this.#checks.length = length;
      throw error;
    }
    for (let i = length; i < this.#checks.length; i++) {
      this.#totalBytes += this.#checks[i]!.key.length;
    }
    return this;
  }

  override checkRange(selector: KvListSelector, versionstamp: string): this {
    assertVersionstamp(versionstamp);
    const range = keyRange(selector, this.#options.order);
    if (!this.#checksRanges) throw new RangeChecksUnsupportedError();
    this.#rangeChecks ??= [];
    this.#rangeChecks.push({ range, versionstamp });
    this.#totalBytes += range.start.length + range.end.length;
    return this;
  }

  override inTurn(turn: Turn | undefined): this {
    // A turn of this process has no number, and needs none.
    this.#turn = turn === undefined ? 0 : turn.number;
    return this;
  }

  mutate(...mutations: KvMutation[]): this {
    for (const mutation of mutations) {
      const { type, key } = mutation;
      if ((type === "delete") === "value" in mutation) {
        const reason = "must be given for every mutation except delete, which has none";
        throw new InvalidOptionError("value", reason, "mutate");
      }
      if (type === "set") this.set(key, mutation.value, mutation);
      else if (type === "delete") this.delete(key);
      else if (type === "sum" || type === "min" || type === "max") {
        this.#combine(type, key, mutation.value?.value);
      } else throw new InvalidOptionError("type", typeReason, "mutate");
    }
    return this;
  }

  set(key: KvSetKey, value: unknown, options?: KvSetOptions): this {
    const before = partsBeforeVersionstamp(key);
    const set: StoredSet = {
      type: "set",
      key: this.#encodeKey(before ?? (key as KvKey)),
      value: encodeValue(value),
      endsInVersionstamp: before !== undefined,
    };
    if (before !== undefined) {
      assertWithin(this.#options.limits, "keyBytes", set.key.length + versionstampPartBytes);
    }
    assertWithin(this.#options.limits, "valueBytes", set.value.length);
    const expireIn = options?.expireIn;
    const pending =
      expireIn === undefined ? set : { ...set, expireIn: wholeMilliseconds(expireIn) };
    return this.#add(pending, set.key.length, set.value.length);
  }

  delete(key: KvKey): this {
    const encoded = this.#encodeKey(key);
    return this.#add({ type: "delete", key: encoded }, encoded.length, 0);
  }

  sum(key: KvKey, n: bigint): this {
    return this.#combine("sum", key, n);
  }

  min(key: KvKey, n: bigint): this {
    return this.#combine("min", key, n);
  }

  max(key: KvKey, n: bigint): this {
    return this.#combine("max", key, n);
  }

  enqueue(value: unknown, options?: KvEnqueueOptions): this {
    const { limits, order } = this.#options;
    const draft = draftMessage(value, options, order);
    assertWithin(limits, "valueBytes", draft.payloadBytes);
    for (const key of draft.keysIfUndelivered) assertWithin(limits, "keyBytes", key.length);
    return this.#add({ type: "enqueue", draft }, 0, draft.value.length);
  }

  override context(value: unknown): this {
    const context = encodeValue(value);
    assertWithin(this.#options.limits, "valueBytes", context.length);
    this.#totalBytes += context.length - (this.#context?.length ?? 0);
    this.#context = context;
    return this;
  }

  async commit(): Promise<KvCommitResult | KvCommitError> {
    const { limits, sync } = this.#options;
    assertWithin(limits, "checks", this.#checks.length);
    assertWithin(limits, "mutations", this.#mutations.length);
    assertWithin(limits, "totalKeyBytes", this.#keyBytes);
    assertWithin(limits, "totalMutationBytes", this.#totalBytes);
    const write = {
      // Copied, so that later additions to the operation are not part of this commit.
      checks: [...this.#checks],
      ...(this.#rangeChecks && { rangeChecks: [...this.#rangeChecks] }),
      mutations: storedMutations(this.#mutations, Date.now()),
      sync,
      ...(this.#context && { context: this.#context }),
      ...(this.#turn !== undefined && { turn: this.#turn }),
    };
    try {
      const versionstamp = await this.#commit(write);
      return versionstamp === null ? { ok: false } : { ok: true, versionstamp };
    } catch (error) {
      if (error === postponed) return { ok: false, isPostponed: true };
      throw error;
    }
  }

  /**
   * Makes `await` on the operation itself, without `commit()`, an error, as in Deno KV.
   *
   * @throws {CommitMissingError} always.
   */
  // biome-ignore lint/suspicious/noThenProperty: `await` must find it.
  then(): never {
    throw new CommitMissingError();
  }

  #combine(type: "sum" | "min" | "max", key: KvKey, n: unknown): this {
    const { value: operand } = new KvU64(n as bigint);
    const encoded = this.#encodeKey(key);
    return this.#add({ type, key: encoded, operand }, encoded.length, u64Bytes);
  }

  #add(mutation: PendingMutation, keyBytes: number, valueBytes: number): this {
    this.#keyBytes += keyBytes;
    this.#totalBytes += keyBytes + valueBytes;
    this.#mutations.push(mutation);
    return this;
  }

  #encodeKey(key: KvKey): Uint8Array {
    const encoded = encodeEntryKey(key, this.#options.order);
    assertWithin(this.#options.limits, "keyBytes", encoded.length);
    return encoded;
  }
}

/**
 * Returns the mutations of a commit, with the hints of the entries that expire.
 *
 * @param now the time of the commit, in milliseconds since the epoch.
 */
function storedMutations(pending: readonly PendingMutation[], now: number): StoredMutation[] {
  const stored: StoredMutation[] = [];
  for (const mutation of pending) {
    if (mutation.type === "enqueue") stored.push(enqueueMutation(mutation.draft, now));
    else if (!("expireIn" in mutation)) stored.push(mutation);
    else {
      const { expireIn, ...set } = mutation;
      const expiring = { ...set, expireAt: now + expireIn };
      stored.push(expiryHint(expiring, now), expiring);
    }
  }
  return stored;
}

/** The latest time of a `Date`, in milliseconds since the epoch. */
const endOfTime = 8.64e15;

/** @throws {InvalidOptionError} unless it is a positive number of at most {@link endOfTime}. */
function wholeMilliseconds(expireIn: number): number {
  if (typeof expireIn !== "number" || !(expireIn > 0 && expireIn <= endOfTime)) {
    const reason = `must be a positive number of milliseconds, at most ${endOfTime}`;
    throw new InvalidOptionError("expireIn", reason, "set");
  }
  return Math.ceil(expireIn);
}
