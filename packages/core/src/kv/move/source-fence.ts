import { setTimeout as sleep } from "node:timers/promises";
import { MoveFailedError } from "../../errors/copy-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";
import { encodeValue } from "../../values/encode-value.js";
import {
  isMoveOver,
  type MoveMark,
  moveMarkKey,
  readMoveMark,
  refusalTime,
  type StoredMoveMark,
  setMoveMark,
} from "../open/marks/move-mark.js";
import type { SharedEngine } from "../open/shared-engine.js";
import { trialKey } from "./own-keys.js";

/** Between two reads of the mark of another move. */
const waitMilliseconds = 100;

/** Makes the source of a move refuse commits. */
export class SourceFence {
  readonly #shared: SharedEngine;
  readonly #id: string;
  readonly #to: string;
  readonly #signal: AbortSignal | undefined;
  /** The versionstamp of the mark. Null if there is none. */
  #version: string | null = null;
  #renewAt = 0;

  /** @param signal ends the wait for the end of another move. */
  constructor(shared: SharedEngine, id: string, to: string, signal: AbortSignal | undefined) {
    this.#shared = shared;
    this.#id = id;
    this.#to = to;
    this.#signal = signal;
  }

  /**
   * Refuses all further commits. Returns the versionstamp of the last one that may have been
   * applied.
   *
   * @throws {MoveFailedError} if another program moves the source, or if its owner is of a release
   * that cannot refuse commits.
   */
  async close(): Promise<string> {
    const present = await this.#markOfOther();
    this.#version = present?.version ?? null;
    const versionstamp = await this.#store("moving");
    if (this.#shared.engine.listen !== undefined) await this.#tryCommit();
    return versionstamp;
  }

  /** Refuses commits for longer, if half of the time is over. */
  async renew(): Promise<void> {
    if (performance.now() >= this.#renewAt) await this.#store("moving");
  }

  /**
   * Ends the source for good. It is moved as soon as this resolves.
   *
   * @throws {MoveFailedError} if the source accepts commits again.
   */
  async finish(): Promise<void> {
    try {
      await this.#store("moved");
    } catch (error) {
      // The answer may be lost although the source was moved.
      const mark = await readMoveMark(this.#shared.engine);
      if (mark?.state !== "moved" || mark.id !== this.#id) throw error;
    }
  }

  /** Accepts commits again. Does nothing if the source was moved or does so already. */
  async open(): Promise<void> {
    if (this.#version === null) return;
    const mark = await readMoveMark(this.#shared.engine);
    if (mark?.id === this.#id && mark.state === "moving") await removeMark(this.#shared, mark);
  }

  /** Returns the mark that an interrupted move has left, when its time is over. */
  async #markOfOther(): Promise<StoredMoveMark | undefined> {
    let first: StoredMoveMark | undefined;
    const seenAt = performance.now();
    for (;;) {
      this.#signal?.throwIfAborted();
      const mark = await readMoveMark(this.#shared.engine);
      if (mark === undefined || isMoveOver(mark, seenAt)) return mark;
      first ??= mark;
      // A program that is running stores the mark again.
      if (mark.state === "moved" || mark.version !== first.version)
        throw new MoveFailedError("another program is moving it");
      await sleep(waitMilliseconds);
    }
  }

  async #store(state: MoveMark["state"]): Promise<string> {
    const renewAt = performance.now() + refusalTime / 2;
    const time = state === "moving" ? Date.now() + refusalTime : Date.now();
    for (;;) {
      const checks = [{ key: moveMarkKey, versionstamp: this.#version }];
      const set = setMoveMark({ id: this.#id, to: this.#to, state, time });
      const version = await this.#shared.commit({ checks, mutations: [set], sync: true });
      if (version !== null) {
        this.#version = version;
        this.#renewAt = renewAt;
        return version;
      }
      // The log may have been turned on or off at the same time.
      const present = await readMoveMark(this.#shared.engine);
      if ((present?.version ?? null) === this.#version) continue;
      const reason =
        present === undefined
          ? "it took too long, and the source accepts commits again; move again"
          : "another program is moving it";
      throw new MoveFailedError(reason);
    }
  }

  /** The owner of the database may be a program of a release that does not know moves. */
  async #tryCommit(): Promise<void> {
    const mutations = [{ type: "set", key: trialKey, value: encodeValue(0) } as const];
    const checks = [{ key: moveMarkKey, versionstamp: this.#version }];
    try {
      const isRefused = (await this.#shared.commit({ checks, mutations, sync: false })) === null;
      if (isRefused) throw new MoveFailedError("the source accepts commits again; move again");
    } catch (error) {
      if (isKeywrightError(error) && error.code === "KW_DATABASE_MOVING") return;
      throw error;
    }
    const remove = [{ type: "delete", key: trialKey } as const];
    await this.#shared.commit({ checks: [], mutations: remove, sync: false });
    const reason =
      "the process that has the source open is of an earlier release, which cannot refuse commits; end it, or start it again with this release";
    throw new MoveFailedError(reason);
  }
}

/** Removes a mark. Returns false if it has changed. */
export async function removeMark(shared: SharedEngine, mark: StoredMoveMark): Promise<boolean> {
  const checks = [{ key: moveMarkKey, versionstamp: mark.version }];
  const mutations = [{ type: "delete", key: moveMarkKey } as const];
  return (await shared.commit({ checks, mutations, sync: true })) !== null;
}
