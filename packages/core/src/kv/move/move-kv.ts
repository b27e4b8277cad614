import { randomUUID } from "node:crypto";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { ReadView } from "../../engine/engine.js";
import { decodeLogRecord } from "../../engine/log/log-record.js";
import { ProgressMeter } from "../../engine/progress.js";
import { DatabaseMovedError, MoveFailedError } from "../../errors/copy-errors.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { LogOffError, LogTruncatedError } from "../../errors/log-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import { denoOrder, specificationOrder } from "../../keys/key-order.js";
import { withTarget } from "../backup/restore/restore.js";
import { SortedItems } from "../backup/restore/sorted-items.js";
import { logIdOf, placeInLog } from "../backup/write/write-full.js";
import { EmbeddedKv } from "../embedded-kv.js";
import { readLogPage } from "../log/read-log-page.js";
import { readMoveMark } from "../open/marks/move-mark.js";
import type { KvPlace } from "../open/open-handle.js";
import type { SharedEngine } from "../open/shared-engine.js";
import { isMessageKey } from "../queue/message-key.js";
import { compareStored, isSameEntry } from "./compare-stored.js";
import { listStored } from "./list-stored.js";
import type { MoveOptions, MoveProgress, MoveResult } from "./move-options.js";
import { addSorted, MoveTarget } from "./move-target.js";
import { nameOfPlace } from "./name-of-place.js";
import { isKeyOfMove } from "./own-keys.js";
import { removeMark, SourceFence } from "./source-fence.js";

const pageSize = 500;
/** The source refuses commits once the target needs about so many milliseconds to catch up. */
const shortRound = 250;
/** The same if programs write faster to the source than the target stores. */
const longestRound = 10_000;
/** Rounds after which the move fails if the target would need longer. */
const mostLongRounds = 3;
const writersAreFaster =
  "programs write faster to the source than the target stores; let them write less, and move again";
const keysAtOnce = 100;
const entriesPerReport = 10_000;

/**
 * Moves a database to another place, on any engine, while programs write to it:
 *
 * 1. Copies one state of the source, and then the commits that were made since, from its log.
 * 2. Compares all entries of both.
 * 3. Lets the source refuse commits (`DatabaseMovingError`), copies the last ones, and compares
 *    what has changed since step 2.
 * 4. Marks the source as moved. Its programs get a `DatabaseMovedError` with the name of the target
 *    for commits and reads.
 *
 * Every acknowledged commit is in the target, in the same order. The target assigns its own
 * versionstamps. The log itself is not moved.
 *
 * If the move fails or its program ends, the source stays in charge, and accepts commits again
 * after at most 10 seconds. The target then cannot be opened (`MoveUnfinishedError`). Move again to
 * continue. If the program ends between step 4 and the return of this function, the target has
 * everything, and moving again only opens it.
 *
 * ```ts
 * await using kv = await openKv("data/app", { allowMoved: true });
 * const { fencedMilliseconds } = await moveKv(kv, await sqliteEngine({ path: "data/app.sqlite" }));
 * ```
 *
 * @param source a database that keeps a log. With `allowMoved`, a move that ended at the last
 * moment can be finished.
 * @param target where `openKv` opens an empty database, or an open one.
 * @throws {LogOffError} if the source keeps no log.
 * @throws {MoveFailedError} if the target is not empty, differs, or is used by another program.
 * @throws {DatabaseMovedError} if the source was already moved to another place.
 * @throws {DatabaseModeError} if the target has the other `compat`.
 * @throws {ReadViewEndedError} if the source can no longer read the state that is copied.
 */
export async function moveKv(
  source: EmbeddedKv,
  target: KvPlace | EmbeddedKv,
  options: MoveOptions = {},
): Promise<MoveResult> {
  const shared = EmbeddedKv.sharedOf(source, "moveKv");
  const { to = nameOfPlace(target) } = options;
  if (typeof to !== "string" || to === "")
    throw new InvalidOptionError("to", "must be a text that is not empty", "moveKv");
  return await withTarget(target, shared.mode, async (kv) => {
    const opened = EmbeddedKv.sharedOf(kv, "moveKv");
    if (opened === shared)
      throw new InvalidOptionError("target", "must be another database than the source", "moveKv");
    return await new Move(shared, new MoveTarget(opened), { ...options, to }).result();
  });
}

/**
 * Makes a database accept commits again that {@link moveKv} has moved to another place, or is about
 * to move. What was written to the new place since the move is missing here. Close the programs of
 * the new place first.
 *
 * @param kv the database, opened with `allowMoved: true`.
 * @returns false if it was not moved.
 */
export async function undoMove(kv: EmbeddedKv): Promise<boolean> {
  const shared = EmbeddedKv.sharedOf(kv, "undoMove");
  for (;;) {
    const mark = await readMoveMark(shared.engine);
    if (mark === undefined) return false;
    if (!(await removeMark(shared, mark))) continue;
    await shared.fence.reload();
    return true;
  }
}

class Move {
  readonly #source: SharedEngine;
  readonly #target: MoveTarget;
  readonly #options: MoveOptions & { readonly to: string };
  readonly #meter: ProgressMeter<MoveProgress["phase"]>;
  /** What tells the log of the source from others. */
  #log = "";
  /** The versionstamp of the last commit of the source that the target has. */
  #position = "";
  #isResumed = false;
  #entries = 0;
  #commits = 0;
  #compared = 0;
  /** The keys that were changed since the comparison of all entries, by their texts. */
  readonly #changed = new Map<string, Uint8Array>();
  /** The keys among them whose values the engine of the source has calculated. */
  readonly #calculated = new Set<string>();
  /** The time before which all commits of the source are in the target, as of the process. */
  #copiedAt = Number.NEGATIVE_INFINITY;
  /** How long the last commits took to be copied, divided by the time in which they were made. */
  #pace = 0;

  constructor(
    source: SharedEngine,
    target: MoveTarget,
    options: MoveOptions & { readonly to: string },
  ) {
    this.#source = source;
    this.#target = target;
    this.#options = options;
    this.#meter = new ProgressMeter<MoveProgress["phase"]>(options.onProgress ?? (() => undefined));
  }

  async result(): Promise<MoveResult> {
    this.#options.signal?.throwIfAborted();
    const remains = await this.#target.remains();
    const moved = await readMoveMark(this.#source.engine);
    if (moved?.state === "moved") {
      if (remains?.mark.isComplete !== true || remains.mark.id !== moved.id)
        throw new DatabaseMovedError(moved.to, this.#source.path);
      await this.#target.continueFrom(remains.stored, remains.mark);
      this.#isResumed = true;
      this.#position = (await this.#target.position()) ?? "";
      await this.#target.end();
      return this.#result(0);
    }
    const id = randomUUID();
    await this.#copy(id, remains);
    await this.#compareAll();
    await this.#catchUp();
    return this.#result(await this.#switch(id));
  }

  #result(fencedMilliseconds: number): MoveResult {
    return {
      entries: this.#entries,
      commits: this.#commits,
      compared: this.#compared,
      fencedMilliseconds,
      resumed: this.#isResumed,
      versionstamp: this.#position,
    };
  }

  /** Copies one state, unless an interrupted move has done so. */
  async #copy(id: string, remains: Awaited<ReturnType<MoveTarget["remains"]>>): Promise<void> {
    const start = performance.now();
    const view = await this.#openView();
    const sorted = new SortedItems();
    try {
      const place = await placeInLog(view);
      if (place.log === null || place.position === null) throw new LogOffError();
      this.#log = place.log;
      if (await this.#resume(id, remains)) return;
      await this.#target.begin({ id, log: this.#log, isComplete: false });
      this.#meter.begin("copying");
      for await (const { entry } of listStored(view, this.#options.signal)) {
        addSorted(sorted, entry);
        if (++this.#entries % entriesPerReport === 0) this.#meter.advance(0, this.#entries);
      }
      const { signal } = this.#options;
      const onWritten = (written: number) => this.#meter.advance(written, this.#entries);
      await this.#target.write(sorted, place.position, signal, onWritten);
      this.#position = place.position;
      this.#copiedAt = start;
    } finally {
      view.close();
      sorted.remove();
    }
  }

  /** Continues an interrupted move, if the log still has all commits since. */
  async #resume(id: string, remains: Awaited<ReturnType<MoveTarget["remains"]>>): Promise<boolean> {
    if (remains?.mark.log !== this.#log) return false;
    const position = await this.#target.position();
    if (position === undefined) return false;
    try {
      await readLogPage(this.#source.engine, position, 1);
    } catch (error) {
      if (error instanceof LogTruncatedError) return false;
      throw error;
    }
    await this.#target.continueFrom(remains.stored, { ...remains.mark, id });
    this.#position = position;
    this.#isResumed = true;
    return true;
  }

  async #openView(): Promise<ReadView> {
    const view = await this.#source.engine.openView?.();
    if (view === undefined) throw new MoveFailedError("its engine has no views of one state");
    return view;
  }

  /**
   * Copies commits of the log until the target is little behind, or gets no closer.
   *
   * @throws {MoveFailedError} if it stays far behind, because programs write too fast.
   */
  async #catchUp(): Promise<void> {
    for (let longRounds = 0; ; ) {
      const expected = (performance.now() - this.#copiedAt) * this.#pace;
      if (this.#pace >= 1) {
        if (expected <= longestRound) return;
        if (++longRounds > mostLongRounds) throw new MoveFailedError(writersAreFaster);
      }
      await this.#copyCommits(await this.#lastPosition());
      if ((performance.now() - this.#copiedAt) * this.#pace <= shortRound) return;
    }
  }

  /** Returns the versionstamp of the last commit of the source. */
  async #lastPosition(): Promise<string> {
    const view = await this.#openView();
    try {
      const { position } = await placeInLog(view);
      if (position === null) throw new LogOffError();
      return position;
    } finally {
      view.close();
    }
  }

  /** Copies the commits of the log until the one with a versionstamp, which is the newest. */
  async #copyCommits(last: string, fence?: SourceFence): Promise<void> {
    const start = performance.now();
    this.#meter.start(fence === undefined ? "catching up" : "switching", this.#commits);
    while (this.#position < last) {
      this.#options.signal?.throwIfAborted();
      await fence?.renew();
      const page = await readLogPage(this.#source.engine, this.#position, pageSize);
      if (logIdOf(page.id) !== this.#log)
        throw new MoveFailedError("the log of the source was ended during the move; move again");
      for (const { versionstamp, value } of page.records) {
        if (versionstamp > last) break;
        const record = decodeLogRecord(versionstamp, value);
        for (const { key, operand } of record.changes) {
          const text = textOfBytes(key);
          this.#changed.set(text, key);
          if (operand !== undefined) this.#calculated.add(text);
        }
        await this.#target.add(record);
        this.#position = versionstamp;
        this.#commits++;
      }
      await this.#target.flush();
      this.#meter.advance(this.#commits);
      if (page.isEnd) break;
    }
    this.#pace = (performance.now() - start) / (start - this.#copiedAt);
    this.#copiedAt = start;
  }

  /** Compares all entries of the target with a state of the source. */
  async #compareAll(): Promise<void> {
    const view = await this.#openView();
    try {
      const { position } = await placeInLog(view);
      if (position === null) throw new LogOffError();
      await this.#copyCommits(position);
      this.#meter.begin("comparing");
      const { signal } = this.#options;
      const onEntry = (count: number) => {
        if (count % entriesPerReport === 0) this.#meter.advance(count);
      };
      for (;;) {
        const { compared, difference } = await compareStored(view, this.#target.engine, {
          signal,
          onEntry,
        });
        this.#compared = compared;
        if (difference === undefined) break;
        await this.#correct(difference, view);
      }
      this.#changed.clear();
    } finally {
      view.close();
    }
  }

  /** Makes the source refuse commits, and ends the move. Returns how long that took. */
  async #switch(id: string): Promise<number> {
    const { to, signal } = this.#options;
    const fence = new SourceFence(this.#source, id, to, signal);
    signal?.throwIfAborted();
    const start = performance.now();
    try {
      const last = await fence.close();
      await this.#copyCommits(last, fence);
      await this.#compareChanged(fence);
      signal?.throwIfAborted();
      await this.#target.complete();
      await fence.finish();
    } catch (error) {
      // Otherwise the source does so by itself.
      await fence.open().catch(() => undefined);
      throw error;
    }
    await this.#target.end();
    return performance.now() - start;
  }

  async #compareChanged(fence: SourceFence): Promise<void> {
    const { engine } = this.#source;
    const changed = [...this.#changed].filter(([text, key]) => !isKeyOfMove(text, key));
    for (let i = 0; i < changed.length; i += keysAtOnce) {
      await fence.renew();
      const page = changed.slice(i, i + keysAtOnce);
      const keys = page.map(([, key]) => key);
      const stored = await getAll(engine, keys);
      const copied = await getAll(this.#target.engine, keys);
      for (const [j, [text]] of page.entries())
        if (!isSameEntry(stored[j], copied[j])) await this.#correct(text, engine);
    }
  }

  /**
   * Stores the value of a key that the engine of the source has calculated: the engine of the
   * target may have done so at another moment, when an entry had expired.
   *
   * @throws {MoveFailedError} if the entry is another one.
   */
  async #correct(text: string, source: Pick<ReadView, "get">): Promise<void> {
    const key = Uint8Array.from(text, (character) => character.charCodeAt(0));
    if (this.#calculated.has(text)) {
      await this.#target.correct(key, await source.get(key));
      this.#calculated.delete(text);
      return;
    }
    const order = this.#source.mode === "deno" ? denoOrder : specificationOrder;
    const isMessage = isMessageKey(key);
    const what = isMessage ? "a message of the queue" : "the entry under `key`";
    const reason = `${what} differs in the target; move again into an empty database`;
    throw new MoveFailedError(reason, { key: isMessage ? undefined : decodeKey(key, order) });
  }
}

async function getAll(
  engine: SharedEngine["engine"],
  keys: readonly Uint8Array[],
): Promise<Awaited<ReturnType<SharedEngine["engine"]["getMany"]>>> {
  const { keys: most = keys.length } = engine.limits;
  const entries = [];
  for (let i = 0; i < keys.length; i += most)
    entries.push(...(await engine.getMany(keys.slice(i, i + most))));
  return entries;
}
