import { hasExpired, type StoredEntry } from "../engine.js";
import { isLoggedCommit } from "./log-keys.js";
import type { LoggedChange, LoggedChangeType } from "./log-record.js";

type KeyState = StoredEntry | null;

/** The changes of one write, as they are applied: for each key the first and the last state. */
export class LoggedChanges {
  readonly #now: number;
  readonly #changes = new Map<string, LoggedChange>();

  /** @param now the time of the commit, in milliseconds since the epoch. */
  constructor(now: number) {
    this.#now = now;
  }

  /** @param text the key as a text. */
  add(type: LoggedChangeType, text: string, key: Uint8Array, states: [KeyState, KeyState]): void {
    const [stored, after] = states;
    const first = this.#changes.get(text);
    // Whoever reads the log learns that an entry has expired from its removal.
    const isGone = type !== "expire" && stored !== null && hasExpired(stored, this.#now);
    const before = first === undefined ? (isGone ? null : stored) : first.before;
    this.#changes.set(text, { type, key: first?.key ?? key, before, after });
  }

  /**
   * Returns the changes without those that have changed nothing, such as deletes of absent keys.
   * None if the commit has no record.
   */
  take(): LoggedChange[] {
    const changes = [...this.#changes.values()].filter(({ before, after }) => before ?? after);
    return isLoggedCommit(changes) ? changes : [];
  }
}
