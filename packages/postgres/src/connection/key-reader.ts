import type { Buffer } from "node:buffer";
import type { StoredEntry } from "@keywright/core";
import { textOf } from "../commit/text-of.js";
import type { Caller } from "./caller.js";
import { entryOf, type Statements } from "./statements.js";

type Found = ReadonlyMap<string, StoredEntry>;

/** A statement that is about to be sent, and its keys. */
interface JoinedGets {
  readonly keys: Uint8Array[];
  readonly found: Promise<Found>;
}

/**
 * The maximum number of single keys in one statement. Values can be large, so more keys are read on
 * several connections.
 */
const maxJoined = 64;

/** Reads keys. Single keys that are read in the same turn are one statement. */
export class KeyReader {
  readonly #caller: Caller;
  readonly #statements: Statements;
  /** The statement that further keys of this turn join. */
  #next: JoinedGets | undefined;

  constructor(caller: Caller, statements: Statements) {
    this.#caller = caller;
    this.#statements = statements;
  }

  async get(key: Uint8Array): Promise<StoredEntry | undefined> {
    if (this.#next === undefined || this.#next.keys.length === maxJoined) {
      const keys: Uint8Array[] = [];
      this.#next = { keys, found: this.#readSoon(keys) };
    }
    const { keys, found } = this.#next;
    keys.push(key);
    return (await found).get(textOf(key));
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    if (keys.length === 0) return [];
    const found = await this.#read(keys);
    return keys.map((key) => found.get(textOf(key)));
  }

  async #readSoon(keys: readonly Uint8Array[]): Promise<Found> {
    await Promise.resolve();
    if (this.#next?.keys === keys) this.#next = undefined;
    return await this.#read(keys);
  }

  async #read(keys: readonly Uint8Array[]): Promise<Found> {
    const [first] = keys;
    const isOne = keys.length === 1 && first !== undefined;
    const statement = isOne ? this.#statements.get(first) : this.#statements.getMany(keys);
    const rows = await this.#caller.read(statement);
    return new Map(rows.map((row) => [textOf(row[0] as Buffer), entryOf(row)]));
  }
}
