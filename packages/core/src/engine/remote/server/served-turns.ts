import { Buffer } from "node:buffer";
import { textOfBytes } from "../../../bytes/text-of-bytes.js";
import type { AtomicWrite, Engine, Footprint, StoredEntry } from "../../engine.js";
import type { Place, TurnLine } from "../../turns.js";
import { FrameError } from "../frames.js";
import {
  keyOf,
  keysWithTurn,
  listOf,
  malformed,
  maxTurnBytes,
  maxTurnEntryBytes,
  maxTurns,
  turnBytes,
  type WireEntry,
  wireEntry,
} from "../messages.js";

/**
 * The answer to a client: its turn begins, with the entries of `keysWithTurn` or without; or it has
 * to ask again.
 */
export type TurnAnswer = readonly (WireEntry | null)[] | null | false;

interface ServedTurn {
  readonly bytes: number;
  /** Undefined after it was called. */
  answer: ((answer: TurnAnswer | Promise<TurnAnswer>) => void) | undefined;
  place: Place | undefined;
}

/** The turns of one client in the line of the owner. They end with its connection. */
export class ServedTurns {
  readonly #line: TurnLine;
  readonly #engine: Pick<Engine, "getMany">;
  readonly #received: () => number;
  readonly #turns = new Map<number, ServedTurn>();
  #bytes = 0;

  /** @param received returns how many bytes the client has sent. */
  constructor(line: TurnLine, engine: Pick<Engine, "getMany">, received: () => number) {
    this.#line = line;
    this.#engine = engine;
    this.#received = received;
  }

  /** True if the client waits for a turn. */
  get isAwaited(): boolean {
    for (const { answer } of this.#turns.values()) if (answer !== undefined) return true;
    return false;
  }

  /**
   * Adds a call of the client to the line, under a number of the client. Resolves when its turn
   * begins, is given up, or is lost because the client may be stopped.
   *
   * @throws {FrameError} if it is not a message of the protocol, or the client has too many turns.
   */
  take(number: number, reads: unknown, writes: unknown): Promise<TurnAnswer> {
    const footprint = footprintOfWire(reads, writes);
    const bytes = turnBytes(footprint);
    if (number < 1 || this.#turns.has(number)) throw malformed();
    if (this.#turns.size >= maxTurns || this.#bytes + bytes > maxTurnBytes)
      throw new FrameError("a client takes too many turns");
    return new Promise((answer) => {
      const turn: ServedTurn = { bytes, answer, place: undefined };
      this.#turns.set(number, turn);
      this.#bytes += bytes;
      const place = this.#line.join(footprint, () => {
        turn.answer?.(this.#entriesOf(footprint));
        turn.answer = undefined;
        if (turn.place !== undefined) this.#limit(turn.place, number);
      });
      turn.place = place;
      if (turn.answer === undefined) this.#limit(place, number);
    });
  }

  /** Ends a turn, or gives it up before it has begun. Does nothing if it has ended. */
  end(number: number): void {
    this.#remove(number, null);
  }

  endAll(): void {
    for (const number of [...this.#turns.keys()]) this.#remove(number, null);
  }

  /** Never rejects: without the entries, the client reads them. */
  async #entriesOf(footprint: Footprint): Promise<TurnAnswer> {
    const keys = keysWithTurn(footprint);
    if (keys.length === 0) return null;
    try {
      const entries = await this.#engine.getMany(keys.map(bytesOfText));
      const isLarge = entries.reduce((sum, entry) => sum + bytesOf(entry), 0) > maxTurnEntryBytes;
      return isLarge ? null : entries.map(wireEntry);
    } catch {
      return null;
    }
  }

  /**
   * Limits the time of a turn. If the client sends nothing during it, it may be stopped, so the
   * turns for which it waits are given up too.
   */
  #limit(place: Place, number: number): void {
    const received = this.#received();
    place.limit(() => {
      if (this.#received() === received) this.#loseAwaited();
      this.#remove(number, null);
    });
  }

  #loseAwaited(): void {
    for (const [number, { answer }] of [...this.#turns])
      if (answer !== undefined) this.#remove(number, false);
  }

  #remove(number: number, answer: TurnAnswer): void {
    const turn = this.#turns.get(number);
    if (turn === undefined) return;
    this.#turns.delete(number);
    this.#bytes -= turn.bytes;
    turn.answer?.(answer);
    turn.answer = undefined;
    turn.place?.end();
  }
}

function bytesOfText(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "latin1"));
}

function bytesOf(entry: StoredEntry | undefined): number {
  return entry?.value.length ?? 0;
}

/** Returns the keys that a write depends on, and those that it changes. */
export function footprintOfWrite({ checks, mutations }: AtomicWrite): Footprint {
  return {
    reads: new Set(checks.map(({ key }) => textOfBytes(key))),
    writes: new Set(mutations.map(({ key }) => textOfBytes(key))),
  };
}

function footprintOfWire(reads: unknown, writes: unknown): Footprint {
  const textsOf = (keys: unknown) => new Set(listOf(keys).map((key) => textOfBytes(keyOf(key))));
  return { reads: textsOf(reads), writes: textsOf(writes) };
}
