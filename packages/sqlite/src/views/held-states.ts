import { ReadViewEndedError } from "@keywright/core";
import type { FileConnection } from "../file/file-connection.js";
import { versionstampOf } from "../file/head.js";

/** How many states views can hold. Each has a connection, with two open files. */
const mostHeld = 64;
/** How many connections are kept for later views. */
const mostIdle = 4;

/** A state that views read, on a connection of its own. */
export interface HeldState {
  readonly connection: FileConnection;
  /** The versionstamp of the last commit of the state. */
  readonly versionstamp: string;
  users: number;
}

/** The states that views hold. Each is a transaction that only reads. */
export class HeldStates {
  readonly #connect: () => FileConnection;
  readonly #idle: FileConnection[] = [];
  #held = 0;
  #last: HeldState | undefined;

  /** @param connect opens a connection. */
  constructor(connect: () => FileConnection) {
    this.#connect = connect;
  }

  /**
   * Returns the newest state. Views that are opened between two commits share it.
   *
   * @param newest the versionstamp of the last commit, if it is known.
   * @throws {ReadViewEndedError} if views hold too many states.
   */
  hold(newest: string | undefined): HeldState {
    let held = this.#last;
    if (held === undefined || held.versionstamp !== newest) {
      held = this.#newest();
      this.#last = held;
    }
    held.users++;
    return held;
  }

  release(held: HeldState): void {
    if (--held.users > 0) return;
    if (this.#last === held) this.#last = undefined;
    this.#held--;
    held.connection.rollback();
    if (this.#idle.length < mostIdle) this.#idle.push(held.connection);
    else held.connection.close();
  }

  /** Closes the connections that no view uses. */
  close(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  #newest(): HeldState {
    if (this.#held >= mostHeld)
      throw new ReadViewEndedError(`views hold ${this.#held} states of the file; close some first`);
    const connection = this.#idle.pop() ?? this.#connect();
    try {
      const head = connection.reading(() => {
        connection.begin();
        try {
          // The first read of a transaction decides which state it sees.
          return connection.head();
        } catch (error) {
          connection.rollback();
          throw error;
        }
      });
      this.#held++;
      return { connection, versionstamp: versionstampOf(head), users: 0 };
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}
