import type { KvKey } from "../../keys/key.js";

/** A message of the queue of a source, as its tables have it. */
export interface QueuedMessage {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  /** Decodes the value. */
  readonly value: () => unknown;
  /** The size of the encoded value and of `keysIfUndelivered`. */
  readonly bytes: number;
  /** Milliseconds before each attempt that is left after the next one. */
  readonly backoffSchedule: readonly number[];
  readonly keysIfUndelivered: readonly KvKey[];
}
