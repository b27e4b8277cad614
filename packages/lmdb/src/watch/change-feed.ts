import type { KeyRange, RangeListener } from "@keywright/core";
import { ChangeWatchers } from "@keywright/core/engine";
import type { ChangedKeys } from "../file/change-record.js";
import { changeSlots } from "../file/reserved-keys.js";

/** Milliseconds between two looks for commits of other processes. */
const pollInterval = 20;

export interface ChangeSource {
  /** Returns the sequence of the last commit of all processes. */
  readSequence(): number;
  /** Returns the changes of a commit, or undefined if they are not known. */
  readChanges(sequence: number): ChangedKeys | undefined;
}

/**
 * Reports the commits of all processes to watches. While there is a watch, it looks for new commits
 * every 20 milliseconds, and after each commit of its own process.
 */
export class ChangeFeed {
  readonly #watchers = new ChangeWatchers();
  readonly #source: ChangeSource;
  /** The sequence of the last commit that was reported or that no watch needs. */
  #reported = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: ChangeSource) {
    this.#source = source;
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    this.#start();
    return this.#stopping(this.#watchers.watch(keys, onChange));
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    this.#start();
    return this.#stopping(this.#watchers.watchRanges(ranges, onChange));
  }

  /** Reports the commits since the last report. */
  poll(): void {
    if (this.#timer === undefined) return;
    const sequence = this.#source.readSequence();
    if (sequence - this.#reported > changeSlots) {
      this.#reported = sequence;
      this.#watchers.notifyUnknown();
      return;
    }
    const missed: (ChangedKeys | undefined)[] = [];
    while (this.#reported < sequence) missed.push(this.#source.readChanges(++this.#reported));
    for (const changed of missed) {
      if (changed === undefined) this.#watchers.notifyUnknown();
      else this.#watchers.notify(changed);
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    if (this.#timer !== undefined) {
      this.poll();
      return;
    }
    this.#reported = this.#source.readSequence();
    this.#timer = setInterval(() => this.#tick(), pollInterval);
    this.#timer.unref();
  }

  #stopping(stop: () => void): () => void {
    return () => {
      stop();
      if (this.#watchers.isEmpty) this.close();
    };
  }

  /** A read that fails is repeated. The reads of the user report its error. */
  #tick(): void {
    try {
      this.poll();
    } catch {}
  }
}
