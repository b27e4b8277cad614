import type { AtomicWrite, Engine, QueueListener, WriteOutcome } from "../../engine.js";
import type { DatabaseMode } from "../../level/database-header.js";
import type { TurnLine } from "../../turns.js";
import type { BufferedBytes } from "./buffered-bytes.js";
import type { ChangeLog } from "./change-log.js";

/** A database that other processes use through its owner. */
export interface ServedDatabase {
  readonly engine: Engine;
  readonly mode: DatabaseMode;
  /** The line for turns. Undefined if another process has it. */
  readonly turns?: TurnLine | undefined;
  /** Throws if a write of another process is not one that this process would make. */
  check(write: AtomicWrite): void;
  /** Resolves with the versionstamp of the write, or with null if a check failed. */
  commit(write: AtomicWrite): Promise<string | null>;
  /** Delivers messages of the queue as encoded values. A rejection means a failed delivery. */
  listen(deliver: (value: Uint8Array) => Promise<void>, sync: boolean): QueueListener;
}

export interface Access {
  readonly canWrite: boolean;
  /** The largest message of the client, in bytes. */
  readonly maxMessageBytes: number;
  /** The requests and answers of all clients that share a limit. Without it there is none. */
  readonly buffered?: BufferedBytes;
  /** The watches of all clients that share a limit, in bytes. Without it there is none. */
  readonly watched?: BufferedBytes;
}

/** A group of writes of a client. */
export interface WriteGroupRequest {
  /** Counts the groups of the client. */
  readonly group: number;
  readonly writes: readonly AtomicWrite[];
  /** The turn of each write, as in {@link AtomicWrite.turn}, or undefined. */
  readonly turns: readonly (number | undefined)[];
  /** True if the client has sent the group before and got no answer. */
  readonly isRepeated: boolean;
}

/** What the connections of a server share. `EngineServer` describes the methods. */
export interface ConnectionHost {
  readonly database: ServedDatabase;
  readonly changes: ChangeLog;
  readonly instance: string;
  /** Counts a call of a client. */
  count(call: string): void;
  join(id: Uint8Array, end: () => void): void;
  leave(id: Uint8Array, isFinal: boolean): void;
  commit(id: Uint8Array, request: WriteGroupRequest): Promise<WriteOutcome[]>;
}
