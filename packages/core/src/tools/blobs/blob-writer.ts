import { randomUUID } from "#platform";
import { BlobAbandonedError } from "../../errors/tool-errors.js";
import type { KvKey } from "../../keys/key.js";
import type { AtomicOperation } from "../../kv/atomic-operation.js";
import type { Kv, KvEntry, KvEntryMaybe } from "../../kv/kv.js";
import { assertMilliseconds, longestLifetime } from "../milliseconds.js";
import type { BlobHead, BlobKeys } from "./blob-keys.js";
import { type BlobSource, chunksOf, encodeChunk } from "./chunks.js";

/** Bytes of a chunk, so that each of them is a value of Deno KV. */
const chunkBytes = 60_000;
/** Chunks of one commit, so that it is one of Deno KV. */
const chunksAtOnce = 12;
/** So that the largest keys of Deno KV fit into a commit. */
const deletedAtOnce = 300;
/** As many keys as Deno KV reads at once. */
const extendedAtOnce = 10;
/** Chunks expire this much later than the head, in milliseconds, so that no reader misses one. */
const chunkDelay = 3_600_000;
/** A write deletes the data of so many old marks. */
const cleanedAtOnce = 5;
/** Milliseconds after which data with a mark is taken for abandoned. */
export const abandonedAfter = 3_600_000;

export interface BlobSetOptions {
  /** The media type, such as `image/png`. The default is that of a `Blob`. */
  readonly type?: string;
  /** Milliseconds after which the blob expires. */
  readonly expireIn?: number;
  /** Stops the write, with the reason of the signal. The blob stays as it was. */
  readonly signal?: AbortSignal;
}

/** The value of a mark: the time of the last commit, in milliseconds since the epoch. */
type Mark = number;

/**
 * Writes blobs. The data of a large one is stored by several commits, under an id of its own and
 * with a mark. The last commit sets the head, which makes the data that of the blob, and moves the
 * mark to the data that it replaces, which is then deleted.
 */
export class BlobWriter {
  readonly #kv: Kv;
  readonly #keys: BlobKeys;

  constructor(kv: Kv, keys: BlobKeys) {
    this.#kv = kv;
    this.#keys = keys;
  }

  async set(
    key: KvKey,
    source: BlobSource,
    { type = source instanceof Blob ? source.type : "", expireIn, signal }: BlobSetOptions,
  ): Promise<BlobHead> {
    signal?.throwIfAborted();
    if (expireIn !== undefined)
      assertMilliseconds("expireIn", expireIn, { least: 1, most: longestLifetime }, "set");
    const id = randomUUID();
    const lifetime = expireIn === undefined ? {} : { expireIn: Math.ceil(expireIn) + chunkDelay };
    let size = 0;
    let index = 0;
    let mark: string | undefined;
    let gathered: Uint8Array[] = [];
    const withChunks = (operation: AtomicOperation) => {
      for (const chunk of gathered)
        operation.set(this.#keys.chunk(id, index++), encodeChunk(chunk), lifetime);
      gathered = [];
      return operation;
    };
    await this.clean(abandonedAfter, cleanedAtOnce);
    let before: KvEntryMaybe<BlobHead>;
    let extendedAt = Date.now();
    /** The first chunks of a slow source would expire before the head. */
    const extend = async () => {
      if (expireIn === undefined || mark === undefined) return;
      if (Date.now() - extendedAt <= chunkDelay / 2) return;
      extendedAt = Date.now();
      for (let from = 0; from < index; from += extendedAtOnce)
        mark = await this.#extend(key, { id, mark, from, end: index, lifetime });
    };
    try {
      for await (const chunk of chunksOf(source, chunkBytes, signal)) {
        if (gathered.length === chunksAtOnce) {
          const operation = withChunks(this.#marked(id, mark));
          const result = await operation.set(this.#keys.mark(id), Date.now()).commit();
          if (!result.ok) throw new BlobAbandonedError(key);
          mark = result.versionstamp;
          await extend();
        }
        gathered.push(chunk);
        size += chunk.length;
      }
      await extend();
      signal?.throwIfAborted();
      before = await this.#kv.get<BlobHead>(this.#keys.head(key));
    } catch (error) {
      if (mark !== undefined) await this.#deleteData(id).catch(() => undefined);
      throw error;
    }
    // If this fails, it is not known whether the head was set. If it was not, the data stays
    // marked.
    const [last, from] = [gathered, index];
    for (;;) {
      [gathered, index] = [last, from];
      const head = { id, size, chunkBytes, modifiedAt: Date.now(), ...(type !== "" && { type }) };
      const operation = withChunks(this.#marked(id, mark))
        .check(before)
        .set(
          this.#keys.head(key),
          head,
          expireIn === undefined ? {} : { expireIn: Math.ceil(expireIn) },
        );
      if (mark !== undefined) operation.delete(this.#keys.mark(id));
      if (before.value !== null) operation.set(this.#keys.mark(before.value.id), Date.now());
      if ((await operation.commit()).ok) {
        if (before.value !== null) await this.#deleteData(before.value.id).catch(() => undefined);
        return head;
      }
      before = await this.#kv.get<BlobHead>(this.#keys.head(key));
      if (mark === undefined) continue;
      const { versionstamp } = await this.#kv.get(this.#keys.mark(id));
      if (versionstamp !== mark) throw new BlobAbandonedError(key);
    }
  }

  /** Returns false if there was no blob. */
  async delete(key: KvKey): Promise<boolean> {
    for (;;) {
      const before = await this.#kv.get<BlobHead>(this.#keys.head(key));
      if (before.value === null) return false;
      const { id } = before.value;
      const operation = this.#kv.atomic().check(before).delete(this.#keys.head(key));
      if (!(await operation.set(this.#keys.mark(id), Date.now()).commit()).ok) continue;
      await this.#deleteData(id).catch(() => undefined);
      return true;
    }
  }

  /**
   * Deletes data that a stopped process has left: that of writes which did not end, and that of
   * blobs which were replaced or deleted. Returns how many there were, at most `limit`.
   *
   * @param olderThan milliseconds since the last commit about the data.
   */
  async clean(olderThan: number, limit: number): Promise<number> {
    const old: KvEntry<Mark>[] = [];
    for await (const mark of this.#kv.list<Mark>({ prefix: this.#keys.marks })) {
      if (old.length === limit) break;
      if (mark.value <= Date.now() - olderThan) old.push(mark);
    }
    for (const { key, value, versionstamp } of old) {
      // From here on, a write that stood still and goes on is refused.
      const taken = this.#kv.atomic().check({ key, versionstamp }).set(key, value);
      if ((await taken.commit()).ok) await this.#deleteData(key.at(-1) as string);
    }
    return old.length;
  }

  /**
   * Returns an operation that fails if the data of a write was deleted because it took too long.
   */
  #marked(id: string, mark: string | undefined): AtomicOperation {
    const operation = this.#kv.atomic();
    if (mark === undefined) return operation;
    return operation.check({ key: this.#keys.mark(id), versionstamp: mark });
  }

  /**
   * Lets some chunks expire as late as if they were written now.
   *
   * @returns the new versionstamp of the mark.
   */
  async #extend(
    blob: KvKey,
    data: {
      readonly id: string;
      readonly mark: string | undefined;
      readonly from: number;
      readonly end: number;
      readonly lifetime: { readonly expireIn?: number };
    },
  ): Promise<string> {
    const { id, mark, from, end, lifetime } = data;
    const keys: KvKey[] = [];
    for (let i = from; i < Math.min(from + extendedAtOnce, end); i++)
      keys.push(this.#keys.chunk(id, i));
    const operation = this.#marked(id, mark).set(this.#keys.mark(id), Date.now());
    for (const { key, value, versionstamp } of await this.#kv.getMany(keys)) {
      if (versionstamp === null) throw new BlobAbandonedError(blob);
      operation.set(key, value, lifetime);
    }
    const result = await operation.commit();
    if (!result.ok) throw new BlobAbandonedError(blob);
    return result.versionstamp;
  }

  /** Deletes chunks, and then their mark. */
  async #deleteData(id: string): Promise<void> {
    let operation = this.#kv.atomic();
    let count = 0;
    for await (const { key } of this.#kv.list(
      { prefix: this.#keys.chunks(id) },
      { batchSize: 10 },
    )) {
      operation.delete(key);
      if (++count % deletedAtOnce !== 0) continue;
      await operation.commit();
      operation = this.#kv.atomic();
    }
    await operation.delete(this.#keys.mark(id)).commit();
  }
}
