import type { Kv } from "@keywright/core";
import { type Capabilities, capabilitiesOf } from "../catalog/capabilities-of.js";
import type { KeyId } from "./buffer/key-id.js";

/** The keys that an attempt reads and writes. */
export interface Footprint {
  readonly reads: ReadonlySet<KeyId>;
  readonly writes: ReadonlySet<KeyId>;
}

/** Turns do not conflict if all of them only read a key, or only write it without reading it. */
type Use = "read" | "write" | "both";

interface Turn {
  readonly uses: readonly (readonly [KeyId, Use])[];
  /** How many turns must end before this one begins. */
  earlier: number;
  /** The turns that wait for this one, once for each key. */
  readonly later: Turn[];
  /** Begins the turn, and returns false if its call has given it up. */
  begin: () => boolean;
  isEnded: boolean;
}

/** The last turns of a key that do not conflict, and the ones before them, until they end. */
interface KeyLine {
  readonly use: Use;
  readonly last: Set<Turn>;
  readonly before: Set<Turn>;
}

/** A turn ends after this time, in milliseconds, so that no two calls block each other. */
const longestTurn = 1000;

/**
 * The line of the calls of one process that have lost several attempts. Calls of the same keys make
 * their further attempts one after another, in the order in which they came. Others that would
 * change these keys join the line.
 */
export class Turns {
  readonly #lines = new Map<KeyId, KeyLine>();
  #size = 0;

  /**
   * Waits for a turn, and returns a function that ends it.
   *
   * @throws the reason of the signal if it is aborted.
   */
  async take(footprint: Footprint, signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted();
    const uses = [...usesOf(footprint)];
    const turn: Turn = { uses, earlier: 0, later: [], begin: () => true, isEnded: false };
    this.#add(turn);
    if (turn.earlier > 0) await wait(turn, signal);
    const timer = setTimeout(() => this.#end(turn), longestTurn);
    return () => {
      clearTimeout(timer);
      this.#end(turn);
    };
  }

  /** True if somebody is in the line. */
  get isUsed(): boolean {
    return this.#size > 0;
  }

  /** True if somebody in the line reads what the footprint writes, or the reverse. */
  conflictsWith(footprint: Footprint): boolean {
    for (const [id, use] of usesOf(footprint)) {
      const line = this.#lines.get(id);
      if (line !== undefined && (mayNotJoin(line, use) || line.before.size > 0)) return true;
    }
    return false;
  }

  #add(turn: Turn): void {
    this.#size++;
    for (const [id, use] of turn.uses) {
      const line = this.#lines.get(id);
      const joins = line !== undefined && !mayNotJoin(line, use);
      const earlier = joins ? line.before : line?.last;
      for (const other of earlier ?? []) {
        other.later.push(turn);
        turn.earlier++;
      }
      if (joins) line.last.add(turn);
      else this.#lines.set(id, { use, last: new Set([turn]), before: earlier ?? new Set() });
    }
  }

  /** Lets those begin who have nobody before them any longer. */
  #end(first: Turn): void {
    const ending = [first];
    for (let turn = ending.pop(); turn !== undefined; turn = ending.pop()) {
      if (turn.isEnded) continue;
      turn.isEnded = true;
      this.#remove(turn);
      for (const next of turn.later) if (--next.earlier === 0 && !next.begin()) ending.push(next);
    }
  }

  #remove(turn: Turn): void {
    this.#size--;
    for (const [id] of turn.uses) {
      const line = this.#lines.get(id)!;
      if (!line.last.delete(turn)) line.before.delete(turn);
      // Those that wait end after those before them.
      if (line.last.size === 0) this.#lines.delete(id);
    }
  }
}

/** Resolves when the turn begins. */
async function wait(turn: Turn, signal: AbortSignal | undefined): Promise<void> {
  let hasBegun = false;
  await new Promise<void>((resolve) => {
    const abort = () => resolve();
    signal?.addEventListener("abort", abort, { once: true });
    turn.begin = () => {
      signal?.removeEventListener("abort", abort);
      hasBegun = !signal?.aborted;
      resolve();
      return hasBegun;
    };
  });
  // The turn keeps its place, because others may wait for it. It then ends when it begins.
  if (!hasBegun) signal?.throwIfAborted();
}

function mayNotJoin(line: KeyLine, use: Use): boolean {
  return use === "both" || use !== line.use;
}

function* usesOf({ reads, writes }: Footprint): Generator<readonly [KeyId, Use]> {
  for (const id of writes) yield [id, reads.has(id) ? "both" : "write"];
  for (const id of reads) if (!writes.has(id)) yield [id, "read"];
}

const known = new WeakMap<Capabilities, Turns>();

/** Returns the line of a database, also for an object that reads and writes it in another way. */
export function turnsOf(kv: Kv): Turns {
  const capabilities = capabilitiesOf(kv);
  let turns = known.get(capabilities);
  if (turns === undefined) {
    turns = new Turns();
    known.set(capabilities, turns);
  }
  return turns;
}
