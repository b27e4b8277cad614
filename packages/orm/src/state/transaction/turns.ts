import type { Kv } from "@keywright/core";
import type { KeyId } from "./buffer/key-id.js";

/** The keys that an attempt reads and writes. */
export interface Footprint {
  readonly reads: ReadonlySet<KeyId>;
  readonly writes: ReadonlySet<KeyId>;
}

interface Turn extends Footprint {
  /** Undefined if the turn has begun. */
  begin: (() => void) | undefined;
}

/** A turn ends after this time, in milliseconds, so that no two calls block each other. */
const longestTurn = 1000;

/**
 * The line of the calls of one process that have lost several attempts. Calls of the same keys make
 * their further attempts one after another, in the order in which they came. Others that would
 * change these keys join the line.
 */
export class Turns {
  /** Those that have begun and those that wait, in the order in which they came. */
  readonly #line = new Set<Turn>();

  /**
   * Waits for a turn, and returns a function that ends it.
   *
   * @throws the reason of the signal if it is aborted.
   */
  async take(footprint: Footprint, signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted();
    const turn: Turn = { ...footprint, begin: undefined };
    const mustWait = this.conflictsWith(footprint);
    this.#line.add(turn);
    if (mustWait) await this.#wait(turn, signal);
    const timer = setTimeout(() => this.#end(turn), longestTurn);
    return () => {
      clearTimeout(timer);
      this.#end(turn);
    };
  }

  /** True if somebody is in the line. */
  get isUsed(): boolean {
    return this.#line.size > 0;
  }

  /** True if somebody in the line reads what the footprint writes, or the reverse. */
  conflictsWith({ reads, writes }: Footprint): boolean {
    for (const turn of this.#line)
      if (haveCommon(turn.reads, writes) || haveCommon(turn.writes, reads)) return true;
    return false;
  }

  async #wait(turn: Turn, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const begin = () => {
        signal?.removeEventListener("abort", begin);
        resolve();
      };
      turn.begin = begin;
      signal?.addEventListener("abort", begin, { once: true });
    });
    if (!signal?.aborted) return;
    this.#end(turn);
    signal.throwIfAborted();
  }

  /** Lets those begin who have nobody before them any longer. */
  #end(turn: Turn): void {
    if (!this.#line.delete(turn)) return;
    const reads = new Set<KeyId>();
    const writes = new Set<KeyId>();
    for (const next of this.#line) {
      const { begin } = next;
      if (begin && !haveCommon(next.reads, writes) && !haveCommon(next.writes, reads)) {
        next.begin = undefined;
        begin();
      }
      for (const id of next.reads) reads.add(id);
      for (const id of next.writes) writes.add(id);
    }
  }
}

function haveCommon(some: ReadonlySet<KeyId>, others: ReadonlySet<KeyId>): boolean {
  const [small, large] = some.size < others.size ? [some, others] : [others, some];
  for (const id of small) if (large.has(id)) return true;
  return false;
}

const known = new WeakMap<Kv, Turns>();

/** Returns the line of a database. */
export function turnsOf(kv: Kv): Turns {
  let turns = known.get(kv);
  if (turns === undefined) {
    turns = new Turns();
    known.set(kv, turns);
  }
  return turns;
}
