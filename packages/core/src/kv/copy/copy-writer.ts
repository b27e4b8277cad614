import { ProgressMeter } from "../../engine/progress.js";
import { CopyFailedError } from "../../errors/copy-errors.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import type { KvKey } from "../../keys/key.js";
import { bigintOfU64 } from "../../values/kv-u64.js";
import { assertVersionstamp } from "../../values/versionstamp.js";
import type { AtomicOperation } from "../atomic-operation.js";
import type { Kv } from "../kv.js";
import type { KvLimits } from "../limits.js";
import { type Place, placeOf } from "./commit-order.js";
import type { CopyOptions, CopyProgress, CopyResult } from "./copy-options.js";
import type { CopySource } from "./copy-source.js";
import { progressKey, u64Key } from "./own-keys.js";
import type { QueuedMessage } from "./queued-message.js";
import type { SourceEntry } from "./source-entry.js";

/** Deno KV's limits. They apply to every target, because some targets report none. */
const batchLimits = { mutations: 1000, totalMutationBytes: 819_200, totalKeyBytes: 81_920 };
/** The rest is for the progress, and for values that are longer in the target's encoding. */
const usedShare = 0.75;

/** An entry of the source: its encoded key and its versionstamp there. */
interface StoredPlace {
  readonly key: Uint8Array;
  readonly versionstamp: string;
}

/** The progress as a commit stores it. Each commit checks that it has not changed since. */
interface StoredProgress {
  /** The first entry that was copied. It identifies the source. Undefined before it is copied. */
  readonly first: StoredPlace | undefined;
  /** The entry that was copied last. */
  readonly last: StoredPlace | undefined;
  readonly entries: number;
  readonly bytes: number;
  /**
   * The versionstamp in the target at which the first run began. Undefined if it has just begun, or
   * if an earlier version of Keywright has stored the progress.
   */
  readonly since?: string | undefined;
}

const nothingCopied: StoredProgress = { first: undefined, last: undefined, entries: 0, bytes: 0 };
/** Before all versionstamps. */
const beginning = "0".repeat(20);

/**
 * Commits entries to the target, with the progress of the copy. Entries with different
 * versionstamps in the source also get different ones in the target, in the same order.
 */
export class CopyWriter {
  readonly #to: Kv;
  readonly #options: CopyOptions;
  readonly #limits: typeof batchLimits;
  readonly #meter: ProgressMeter<CopyProgress["phase"]>;
  readonly #resumed: boolean;
  /** The versionstamp of the stored progress. If it changes, another copy is running. */
  #versionstamp: string | null;
  #copied: StoredProgress;
  /**
   * The versionstamp after which the target may have entries of an earlier run that the source has
   * deleted since. Undefined if there was no such run.
   */
  readonly remainsSince: string | undefined;
  #gathered: SourceEntry[] = [];
  #gatheredBytes = 0;
  #gatheredKeyBytes = 0;
  #u64Class: U64Class | undefined;
  #leftOut = 0;
  #toCopy = 0;
  #verified = 0;
  #messages = 0;

  /**
   * Reads the progress of an earlier copy into the database, and stores it again. From then on, an
   * earlier copy that still runs cannot commit.
   *
   * @throws {CopyFailedError} if the progress is unreadable or belongs to another source.
   */
  static async open(from: CopySource["reads"], to: Kv, options: CopyOptions): Promise<CopyWriter> {
    options.signal?.throwIfAborted();
    const { value, versionstamp } = await to.get(progressKey);
    const isContinued = versionstamp !== null && options.restart !== true;
    const copied = isContinued ? storedProgress(value) : nothingCopied;
    await assertSameSource(from, copied);
    const remains = versionstamp === null ? undefined : remainsOf(value);
    const writer = new CopyWriter(to, options, { copied, versionstamp, remains });
    await writer.#begin();
    return writer;
  }

  private constructor(
    to: Kv,
    options: CopyOptions,
    {
      copied,
      versionstamp,
      remains,
    }: {
      readonly copied: StoredProgress;
      readonly versionstamp: string | null;
      readonly remains: string | undefined;
    },
  ) {
    this.#to = to;
    this.#options = options;
    this.#limits = copyLimits(to);
    this.#resumed = copied.first !== undefined;
    this.#copied = copied;
    this.#versionstamp = versionstamp;
    this.remainsSince = remains;
    this.#meter = new ProgressMeter(({ total = 0, ...progress }) =>
      options.onProgress?.({ ...this.#result, ...progress, total }),
    );
    this.#meter.begin("copying", copied.entries);
  }

  /** Stores the progress again, with the versionstamp at which the first run began. */
  async #begin(): Promise<void> {
    const since = this.remainsSince;
    await this.#commitProgress(this.#operation(), { ...this.#copied, since });
    if (since !== undefined) return;
    const begun = { ...this.#copied, since: this.#versionstamp ?? undefined };
    await this.#commitProgress(this.#operation(), begun);
  }

  /** The place in the source after which the copy continues. */
  get position(): Place {
    const { last } = this.#copied;
    return last === undefined ? "" : placeOf(last.versionstamp, last.key);
  }

  /** Sets the number of entries of the source after the position. */
  setTotal(entries: number): void {
    this.#toCopy = entries + this.#copied.entries;
  }

  /** Adds the next entry. Commits the gathered entries first if there is no room for it. */
  async add(entry: SourceEntry): Promise<void> {
    const { value, encodedKey, bytes } = entry;
    const expireAt = this.#expireAtOf(entry);
    if (expireAt !== undefined && expireAt <= Date.now()) {
      this.#leftOut++;
      return;
    }
    const number = bigintOfU64(value);
    if (number !== undefined) this.#u64Class ??= await u64ClassOf(this.#to, u64Key);
    const hasRoom =
      this.#gathered.length < this.#limits.mutations &&
      this.#gatheredBytes + bytes <= this.#limits.totalMutationBytes &&
      this.#gatheredKeyBytes + encodedKey.length <= this.#limits.totalKeyBytes;
    if (!hasRoom) await this.flush();
    const stored = number === undefined ? value : new this.#u64Class!(number);
    this.#gathered.push({ ...entry, value: stored, expireAt });
    this.#gatheredBytes += bytes;
    this.#gatheredKeyBytes += encodedKey.length;
  }

  beginVerifying(): void {
    this.#meter.begin("verifying");
  }

  /** Reports the number of entries that have been compared with the source. */
  setVerified(entries: number): void {
    this.#verified = entries;
    this.#meter.advance(entries, this.#result.total);
  }

  /** The limits of a commit, of which a copy uses only a part. */
  get limits(): Readonly<typeof batchLimits> {
    return this.#limits;
  }

  /** Records that messages were copied in an earlier run. */
  addMessages(count: number): void {
    this.#messages += count;
  }

  /**
   * Adds messages to the queue of the target, and to a list of those that were copied.
   *
   * @throws {CopyFailedError} if the target refuses them.
   */
  async writeMessages(messages: readonly QueuedMessage[], list: KvKey): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const decoded = messages.map((message) => ({ ...message, value: message.value() }));
    try {
      const operation = this.#operation();
      for (const { value, dueAt, backoffSchedule, keysIfUndelivered } of decoded)
        operation.enqueue(value, {
          delay: Math.max(0, dueAt - Date.now()),
          backoffSchedule: [...backoffSchedule],
          keysIfUndelivered: [...keysIfUndelivered],
        });
      operation.set(
        list,
        messages.map(({ id }) => id),
      );
      await this.#commitProgress(operation, this.#copied);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      throw new CopyFailedError(
        "the target refuses a message of the queue; change the limits of the target, then copy again, or leave the messages out",
        list,
        error,
      );
    }
    this.addMessages(messages.length);
    this.#meter.advance(this.#copied.entries, this.#result.total);
  }

  /**
   * Deletes the stored progress.
   *
   * @param lists the keys of the lists of messages.
   */
  async finish(lists: readonly KvKey[]): Promise<CopyResult> {
    const operation = this.#operation().delete(progressKey).delete(u64Key);
    for (const list of lists) operation.delete(list);
    const forgotten = await operation.commit();
    if (!forgotten.ok) throw runningCopyError();
    return this.#result;
  }

  async flush(): Promise<void> {
    const entries = this.#gathered;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#gatheredKeyBytes = 0;
    const commits = commitsOf(entries);
    if (commits.length > 1 && (await this.#writeTogether(commits))) return;
    for (const commit of commits) await this.#write(commit);
  }

  /**
   * Makes one commit for each commit of the source, all at the same time, and then one of the
   * progress. Until then, the next copy writes them again.
   *
   * @returns false if the target refused an entry or applied them in another order.
   */
  async #writeTogether(commits: readonly (readonly SourceEntry[])[]): Promise<boolean> {
    this.#options.signal?.throwIfAborted();
    let copied = this.#copied;
    const outcomes = await Promise.allSettled(
      commits.map(async (entries) => {
        const operation = this.#operation();
        copied = setEntries(operation, entries, copied);
        return await operation.commit();
      }),
    );
    const failed = outcomes.find(
      (outcome) => outcome.status === "rejected" && !isRefusal(outcome.reason),
    ) as PromiseRejectedResult | undefined;
    if (failed !== undefined) throw failed.reason;
    let last = "";
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") return false;
      if (!outcome.value.ok) throw runningCopyError();
      if (outcome.value.versionstamp <= last) return false;
      last = outcome.value.versionstamp;
    }
    await this.#commitProgress(this.#operation(), copied);
    this.#meter.advance(this.#copied.entries, this.#result.total);
    return true;
  }

  async #commitProgress(operation: AtomicOperation, copied: StoredProgress): Promise<void> {
    const result = await operation.set(progressKey, copied).commit();
    if (!result.ok) throw runningCopyError();
    this.#versionstamp = result.versionstamp;
    this.#copied = copied;
  }

  #expireAtOf(entry: SourceEntry): number | undefined {
    const { key, value, versionstamp, expireAt } = entry;
    const reported = expireAt === undefined ? {} : { expireAt };
    const expireIn = this.#options.expireIn?.({ key, value, versionstamp, ...reported });
    if (expireIn === undefined) return expireAt;
    if (typeof expireIn !== "number" || !Number.isFinite(expireIn)) {
      const reason = "must return a finite number of milliseconds or undefined";
      throw new InvalidOptionError("expireIn", reason, "copyKv");
    }
    return Date.now() + expireIn;
  }

  /** Commits entries together, or in halves if the target refuses them together. */
  async #write(entries: readonly SourceEntry[]): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const operation = this.#operation();
    try {
      await this.#commitProgress(operation, setEntries(operation, entries, this.#copied));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await this.#writeHalves(entries, error);
      return;
    }
    this.#meter.advance(this.#copied.entries, this.#result.total);
  }

  /** @param refusal the error of the target for all entries together. */
  async #writeHalves(entries: readonly SourceEntry[], refusal: unknown): Promise<void> {
    if (entries.length === 1) {
      throw new CopyFailedError(
        "the target refuses an entry; change the entry or the limits of the target, then copy again",
        entries[0]!.key,
        refusal,
      );
    }
    const middle = Math.ceil(entries.length / 2);
    await this.#write(entries.slice(0, middle));
    await this.#write(entries.slice(middle));
  }

  #operation(): AtomicOperation {
    return this.#to.atomic().check({ key: progressKey, versionstamp: this.#versionstamp });
  }

  get #result(): CopyResult {
    const { entries, bytes } = this.#copied;
    const total = Math.max(this.#toCopy - this.#leftOut, entries);
    return {
      entries,
      bytes,
      total,
      verified: this.#verified,
      messages: this.#messages,
      resumed: this.#resumed,
    };
  }
}

/** Divides entries by the commits that wrote them in the source. */
function commitsOf(entries: readonly SourceEntry[]): SourceEntry[][] {
  const commits: SourceEntry[][] = [];
  for (const entry of entries) {
    const last = commits.at(-1);
    if (last !== undefined && last[0]!.versionstamp === entry.versionstamp) last.push(entry);
    else commits.push([entry]);
  }
  return commits;
}

/** Adds entries to an operation. Returns the progress after its commit. */
function setEntries(
  operation: AtomicOperation,
  entries: readonly SourceEntry[],
  { first, entries: count, bytes: total, since }: StoredProgress,
): StoredProgress {
  const copied = { entries: count, bytes: total };
  for (const { key, value, expireAt, bytes } of entries) {
    const expireIn = expireAt === undefined ? undefined : expireAt - Date.now();
    if (expireIn !== undefined && expireIn <= 0) continue;
    operation.set(key, value, expireIn === undefined ? {} : { expireIn });
    copied.entries++;
    copied.bytes += bytes;
  }
  return { first: first ?? placeIn(entries[0]!), last: placeIn(entries.at(-1)!), ...copied, since };
}

function placeIn({ encodedKey: key, versionstamp }: SourceEntry): StoredPlace {
  return { key, versionstamp };
}

/** Returns {@link usedShare} of the lower of the target's and Deno KV's limits. */
function copyLimits(to: Kv & { readonly limits?: Partial<KvLimits> }): typeof batchLimits {
  const share = (name: keyof typeof batchLimits) =>
    Math.min(batchLimits[name], to.limits?.[name] ?? Number.POSITIVE_INFINITY) * usedShare;
  return {
    mutations: share("mutations"),
    totalMutationBytes: share("totalMutationBytes"),
    totalKeyBytes: share("totalKeyBytes"),
  };
}

/** True if the target refused its input, false if the target itself failed. */
function isRefusal(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  // `@deno/kv` reports an exceeded limit with this code.
  return (error as { code?: unknown } | undefined)?.code === "GenericFailure";
}

/**
 * Returns the versionstamp after which an earlier run may have copied entries, or undefined if it
 * has copied none.
 */
function remainsOf(progress: unknown): string | undefined {
  const { entries, since } = (progress ?? {}) as Partial<StoredProgress>;
  if (typeof since === "string") return since;
  return entries === 0 ? undefined : beginning;
}

function storedProgress(value: unknown): StoredProgress {
  const { first, last, entries, bytes } = (value ?? {}) as Partial<StoredProgress>;
  try {
    if (entries !== 0) for (const place of [first, last]) assertPlace(place);
  } catch (cause) {
    const reason = "the stored progress is not readable; copy again with restart: true";
    throw new CopyFailedError(reason, progressKey, cause);
  }
  return { first, last, entries: entries ?? 0, bytes: bytes ?? 0 };
}

function assertPlace(place: StoredPlace | undefined): void {
  if (!(place?.key instanceof Uint8Array)) throw new TypeError("there is no entry");
  assertVersionstamp(place.versionstamp);
  decodeKey(place.key);
}

/** @throws {CopyFailedError} if the progress belongs to another source. */
async function assertSameSource(
  from: CopySource["reads"],
  { first }: StoredProgress,
): Promise<void> {
  if (first === undefined) return;
  const { versionstamp } = await from.get(decodeKey(first.key));
  if (versionstamp === first.versionstamp) return;
  throw new CopyFailedError(
    "the stored progress is of another source, or the first entry of this one has changed; copy again with restart: true",
    progressKey,
  );
}

function runningCopyError(): CopyFailedError {
  return new CopyFailedError(
    "another copy into the target is running; wait until it has ended, then copy again",
    progressKey,
  );
}

/** A class of 64-bit unsigned integers. Each implementation of Deno KV accepts only its own. */
type U64Class = new (value: bigint) => object;

/**
 * Returns the class of 64-bit unsigned integers of a database. Not every implementation exports it,
 * so this function stores a number under `key` and reads it. The caller deletes the key.
 */
async function u64ClassOf(kv: Kv, key: KvKey): Promise<U64Class> {
  await kv.atomic().sum(key, 0n).commit();
  const { value } = await kv.get<object>(key);
  return (value as object).constructor as U64Class;
}
