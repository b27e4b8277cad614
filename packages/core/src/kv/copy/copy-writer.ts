import { CopyFailedError, InvalidOptionError } from "../../errors/core-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import { encodeKey } from "../../keys/encode-key.js";
import type { KvKey } from "../../keys/key.js";
import { encodeValue } from "../../values/encode-value.js";
import { bigintOfU64 } from "../../values/kv-u64.js";
import type { AtomicOperation, Kv, KvEntry } from "../kv.js";
import type { KvLimits } from "../limits.js";
import type { CopyOptions, CopyProgress } from "./copy-options.js";

const progressKey: KvKey = ["__keywright", "copy"];
const u64Key: KvKey = ["__keywright", "copy", "u64"];

/** Deno KV's limits. They apply to every target, because some targets report none. */
const batchLimits = { mutations: 1000, totalMutationBytes: 819_200, totalKeyBytes: 81_920 };
/** The rest is for the progress, and for values that are longer in the target's encoding. */
const usedShare = 0.75;
const u64Bytes = 8;
/** The assumed size of a value that only the target can encode. */
const unknownValueBytes = 65_536;

interface StoredProgress {
  /** The first copied entry and its versionstamp in the source, which identify the source. */
  readonly first: { readonly key: Uint8Array; readonly versionstamp: string };
  /** The encoded key of the entry that was copied last. */
  readonly position: Uint8Array;
  readonly entries: number;
  readonly bytes: number;
}

interface SizedEntry {
  readonly key: KvKey;
  readonly versionstamp: string;
  readonly encodedKey: Uint8Array;
  readonly value: unknown;
  readonly expireAt: number | undefined;
  /** Bytes of the key and the value. */
  readonly bytes: number;
}

/** True if the key belongs to the copy itself. Such a key is not copied. */
export function isCopyKey(key: KvKey): boolean {
  return [progressKey, u64Key].some(
    (own) => own.length === key.length && own.every((part, index) => key[index] === part),
  );
}

/** Commits entries to the target. Each commit includes the progress of the copy. */
export class CopyWriter {
  readonly #to: Kv;
  readonly #options: CopyOptions;
  readonly #limits: typeof batchLimits;
  readonly #resumed: boolean;
  /** The versionstamp of the stored progress. If it changes, another copy is running. */
  #versionstamp: string | null;
  #copied: StoredProgress | undefined;
  #gathered: SizedEntry[] = [];
  #gatheredBytes = 0;
  #gatheredKeyBytes = 0;
  #u64Class: U64Class | undefined;

  /**
   * Reads the progress of an earlier copy into the database.
   *
   * @throws {CopyFailedError} if the progress is unreadable or belongs to another source.
   */
  static async open(from: Kv, to: Kv, options: CopyOptions): Promise<CopyWriter> {
    const { value, versionstamp } = await to.get(progressKey);
    const isContinued = versionstamp !== null && options.restart !== true;
    const copied = isContinued ? storedProgress(value) : undefined;
    if (copied !== undefined) await assertSameSource(from, copied);
    return new CopyWriter(to, options, copied, versionstamp);
  }

  private constructor(
    to: Kv,
    options: CopyOptions,
    copied: StoredProgress | undefined,
    versionstamp: string | null,
  ) {
    this.#to = to;
    this.#options = options;
    this.#limits = copyLimits(to);
    this.#resumed = copied !== undefined;
    this.#copied = copied;
    this.#versionstamp = versionstamp;
  }

  get position(): Uint8Array | undefined {
    return this.#copied?.position;
  }

  /** Adds the next entry. Commits the gathered entries first if one commit has no room for all. */
  async add(entry: KvEntry<unknown>): Promise<void> {
    const { key, value, versionstamp } = entry;
    const expireAt = this.#expireAtOf(entry);
    const encodedKey = encodeKey(key);
    const number = bigintOfU64(value);
    if (number !== undefined) this.#u64Class ??= await u64ClassOf(this.#to, u64Key);
    const bytes = encodedKey.length + (number === undefined ? valueBytes(value) : u64Bytes);
    const hasRoom =
      this.#gathered.length < this.#limits.mutations &&
      this.#gatheredBytes + bytes <= this.#limits.totalMutationBytes &&
      this.#gatheredKeyBytes + encodedKey.length <= this.#limits.totalKeyBytes;
    if (!hasRoom) await this.flush();
    const stored = number === undefined ? value : new this.#u64Class!(number);
    this.#gathered.push({ key, versionstamp, encodedKey, value: stored, expireAt, bytes });
    this.#gatheredBytes += bytes;
    this.#gatheredKeyBytes += encodedKey.length;
  }

  /** Commits the remaining entries, and deletes the stored progress. */
  async finish(): Promise<CopyProgress> {
    await this.flush();
    const forgotten = await this.#operation().delete(progressKey).delete(u64Key).commit();
    if (!forgotten.ok) throw runningCopyError();
    return this.#progress();
  }

  /** Commits the gathered entries. */
  async flush(): Promise<CopyProgress> {
    const entries = this.#gathered;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#gatheredKeyBytes = 0;
    if (entries.length > 0) await this.#write(entries);
    return this.#progress();
  }

  #expireAtOf(entry: KvEntry<unknown>): number | undefined {
    const expireIn = this.#options.expireIn?.(entry);
    if (expireIn === undefined) return entry.expireAt;
    if (typeof expireIn !== "number" || !Number.isFinite(expireIn)) {
      const reason = "must return a finite number of milliseconds or undefined";
      throw new InvalidOptionError("expireIn", reason, "copyKv");
    }
    return Date.now() + expireIn;
  }

  /** Commits entries together, or in halves if the target refuses them together. */
  async #write(entries: readonly SizedEntry[]): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const operation = this.#operation();
    try {
      const copied = this.#setEntries(operation, entries);
      const result = await operation.set(progressKey, copied).commit();
      if (!result.ok) throw runningCopyError();
      this.#versionstamp = result.versionstamp;
      this.#copied = copied;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await this.#writeHalves(entries, error);
      return;
    }
    this.#options.onProgress?.(this.#progress());
  }

  /** @param refusal the error of the target for all entries together. */
  async #writeHalves(entries: readonly SizedEntry[], refusal: unknown): Promise<void> {
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

  /** Adds entries to an operation. Returns the progress after its commit. */
  #setEntries(operation: AtomicOperation, entries: readonly SizedEntry[]): StoredProgress {
    let { entries: count, bytes: total } = this.#progress();
    for (const { key, value, expireAt, bytes } of entries) {
      const expireIn = expireAt === undefined ? undefined : expireAt - Date.now();
      if (expireIn !== undefined && expireIn <= 0) continue;
      operation.set(key, value, expireIn === undefined ? {} : { expireIn });
      count++;
      total += bytes;
    }
    const { encodedKey: key, versionstamp } = entries[0]!;
    return {
      first: this.#copied?.first ?? { key, versionstamp },
      position: entries.at(-1)!.encodedKey,
      entries: count,
      bytes: total,
    };
  }

  #operation(): AtomicOperation {
    return this.#to.atomic().check({ key: progressKey, versionstamp: this.#versionstamp });
  }

  #progress(): CopyProgress {
    const { entries = 0, bytes = 0 } = this.#copied ?? {};
    return { entries, bytes, resumed: this.#resumed };
  }
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

function valueBytes(value: unknown): number {
  try {
    return encodeValue(value).length;
  } catch {
    return unknownValueBytes;
  }
}

/** True if the target refused its input, false if the target itself failed. */
function isRefusal(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  // `@deno/kv` reports an exceeded limit with this code.
  return (error as { code?: unknown } | undefined)?.code === "GenericFailure";
}

function storedProgress(value: unknown): StoredProgress {
  const { first, position, entries, bytes } = (value ?? {}) as Partial<StoredProgress>;
  try {
    if (!(position instanceof Uint8Array)) throw new TypeError("there is no position");
    if (!(first?.key instanceof Uint8Array)) throw new TypeError("there is no first entry");
    decodeKey(position);
    decodeKey(first.key);
  } catch (cause) {
    const reason = "the stored progress is not readable; copy again with restart: true";
    throw new CopyFailedError(reason, progressKey, cause);
  }
  return { first, position, entries: entries ?? 0, bytes: bytes ?? 0 };
}

/** @throws {CopyFailedError} if the progress, and so its position, belongs to another source. */
async function assertSameSource(from: Kv, { first }: StoredProgress): Promise<void> {
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
