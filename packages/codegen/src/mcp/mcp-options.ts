import type { Readable, Writable } from "node:stream";
import type { OpenDatabase } from "./source/open-database.js";

/** What the server shows, and to whom. `keywright mcp` passes these. */
export interface McpOptions {
  /** Opens the database with its models, passes them to `use`, and closes the database. */
  readonly withDatabase: <T>(use: (open: OpenDatabase) => Promise<T>) => Promise<T>;
  /** Returns the code, the message, the remedy and the details of an error, as JSON has them. */
  readonly describeError: (error: unknown) => object;
  /** The version that clients are told. */
  readonly version: string;
  /** True for tools that create, update and delete rows. False by default. */
  readonly allowWrites?: boolean;
  /** Where messages of the client come from. */
  readonly stdin: Readable;
  /** Where messages to the client go to. Nothing else may be written there. */
  readonly stdout: Writable;
}
