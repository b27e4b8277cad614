import type { Terminal } from "../terminal.js";
import { writeText } from "../text/wrap.js";
import { writeJsonLine } from "../write-json.js";
import { aborted, interruptible } from "./interruptible.js";

/** `isServingAllowed` reads this property, in all copies of @keywright/core in the process. */
const setting = Symbol.for("keywright.serve");

/**
 * Determines whether other processes may attach to this one. A command that ends soon keeps them
 * away.
 */
export function allowServing(isAllowed: boolean): void {
  (globalThis as { [setting]?: boolean })[setting] = isAllowed;
}

/** Prints where a server listens, and closes it at the first Ctrl-C or termination signal. */
export async function serveUntilStopped(
  terminal: Terminal,
  text: string,
  server: { readonly url: string; close(): Promise<void> },
): Promise<void> {
  if (terminal.isJson) writeJsonLine(terminal, { url: server.url });
  else writeText(terminal.stdout, text);
  await interruptible(terminal, aborted, "Answering what has begun.");
  await server.close();
}
