import { Buffer } from "node:buffer";
import type { Footprint, StoredEntry, Turn, Turns } from "../../engine.js";
import { type Place, TurnLine, untilAborted } from "../../turns.js";
import { entryOf, keysWithTurn, maxTurnBytes, maxTurns, turnBytes } from "../messages.js";
import type { TurnAnswer } from "../server/served-turns.js";
import type { Link } from "./link.js";

interface RemoteTurn {
  readonly bytes: number;
  /** Those that came with the answer and were not taken, by their keys. */
  readonly entries: Map<string, StoredEntry | null>;
  /** True if the owner was asked for the turn. */
  isAsked: boolean;
  /** True if the owner has ended the turn, because its write was made. */
  isCommitted: boolean;
}

/**
 * The line of a database that another process owns. The owner decides whose turn it is. This
 * process knows only of its own calls in the line.
 */
export class RemoteTurns implements Turns {
  /**
   * An attempt takes two messages to the owner, whose own attempts take none. So a call would lose
   * nearly all of its attempts to the owner, and a turn costs it nothing more.
   */
  readonly attempts = 1;
  readonly #link: Pick<Link, "call" | "notify" | "giveUp">;
  /** The calls of this process, whose turns begin in the order that the owner has chosen. */
  readonly #line = new TurnLine();
  readonly #turns = new Map<number, RemoteTurn>();
  #bytes = 0;
  #nextNumber = 1;
  /** True if the owner has a line. Otherwise only the calls of this process take turns. */
  #isQueued = false;

  constructor(link: Pick<Link, "call" | "notify" | "giveUp">) {
    this.#link = link;
  }

  /**
   * Call this for each new connection, before calls are sent again on it.
   *
   * @param isQueued true if the owner has a line. An earlier version of it has none.
   */
  connect(isQueued: boolean): void {
    this.#isQueued = isQueued;
    if (!isQueued) this.#link.giveUp(({ call }) => call === "takeTurn", noLine());
  }

  get isUsed(): boolean {
    return this.#line.isUsed;
  }

  conflictsWith(footprint: Footprint): boolean {
    return this.#line.conflictsWith(footprint);
  }

  async take(footprint: Footprint, signal?: AbortSignal): Promise<Turn> {
    signal?.throwIfAborted();
    const number = this.#nextNumber++;
    const turn: RemoteTurn = {
      bytes: turnBytes(footprint),
      entries: new Map(),
      isAsked: false,
      isCommitted: false,
    };
    const mayAsk = this.#turns.size < maxTurns && this.#bytes + turn.bytes <= maxTurnBytes;
    this.#turns.set(number, turn);
    this.#bytes += turn.bytes;
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const place = this.#line.join(footprint, () => begin());
    const asked = mayAsk ? this.#ask(number, turn, footprint) : undefined;
    try {
      await untilAborted(Promise.all([begun, asked]), place, signal);
    } catch (error) {
      this.#end(number, place);
      throw error;
    }
    place.limit();
    const takeEntry = (key: string) => {
      const entry = turn.entries.get(key);
      turn.entries.delete(key);
      return entry;
    };
    return { number, takeEntry, end: () => this.#end(number, place) };
  }

  /** Call this after a write was made that belongs to a turn. The owner has ended the turn. */
  committed(number: number): void {
    const turn = this.#turns.get(number);
    if (turn !== undefined) turn.isCommitted = true;
  }

  /** Resolves when the owner lets the turn begin, or if it has no line. Never rejects. */
  async #ask(number: number, turn: RemoteTurn, footprint: Footprint): Promise<void> {
    const keys = [keysOf(footprint.reads), keysOf(footprint.writes)];
    try {
      // The answer is false if this process was silent during an earlier turn: the owner then gave
      // its place to others.
      let answer: TurnAnswer = false;
      while (answer === false && this.#isQueued && this.#turns.has(number)) {
        turn.isAsked = true;
        answer = (await this.#link.call("takeTurn", number, ...keys)) as TurnAnswer;
      }
      if (answer === false || answer === null) return;
      for (const [i, key] of keysWithTurn(footprint).entries())
        turn.entries.set(key, entryOf(bytesOfText(key), answer[i] ?? null) ?? null);
    } catch {
      // If the owner cannot be reached, the next attempt of the call says so.
    }
  }

  #end(number: number, place: Place): void {
    place.end();
    const turn = this.#turns.get(number);
    if (turn === undefined) return;
    this.#turns.delete(number);
    this.#bytes -= turn.bytes;
    if (!turn.isAsked || turn.isCommitted || !this.#isQueued) return;
    this.#link.giveUp(({ call, args }) => call === "takeTurn" && args[0] === number, noLine());
    this.#link.notify("endTurn", number);
  }
}

function keysOf(texts: ReadonlySet<string>): Uint8Array[] {
  return [...texts].map(bytesOfText);
}

function bytesOfText(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "latin1"));
}

function noLine(): Error {
  return new Error("The turn is not awaited any longer.");
}
