import type { Readable, Writable } from "node:stream";
import type { OpenDatabase } from "./source/open-database.js";

/** How a database is opened for a call. */
export interface OpenOptions {
  /** True if the call must not write. */
  readonly readOnly: boolean;
  /** Aborted if the call has ended before the database was open. Then `use` is not called. */
  readonly signal: AbortSignal;
}

/** What the server shows, and to whom. `keywright mcp` passes these. */
export interface McpOptions {
  /** Opens the database with its models, passes them to `use`, and closes the database. */
  readonly withDatabase: <T>(
    use: (open: OpenDatabase) => Promise<T>,
    options: OpenOptions,
  ) => Promise<T>;
  /** Returns the code, the message, the remedy and the details of an error, as JSON has them. */
  readonly describeError: (error: unknown) => object;
  /** The version that clients are told. */
  readonly version: string;
  /** True for tools that create, update and delete rows. */
  readonly allowWrites: boolean;
  /** How long a call may take, in milliseconds. */
  readonly timeout: number;
  /** Where messages of the client come from. */
  readonly stdin: Readable;
  /** Where messages to the client go to. Nothing else may be written there. */
  readonly stdout: Writable;
}
