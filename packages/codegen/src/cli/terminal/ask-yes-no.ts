import { confirm, isCancel } from "@clack/prompts";
import { untilInputEnds } from "./process/until-input-ends.js";
import type { Terminal } from "./terminal.js";

/** Asks a question in a terminal. Returns undefined if the user gives up or the input ends. */
export async function askYesNo(terminal: Terminal, message: string): Promise<boolean | undefined> {
  const answer = await untilInputEnds(terminal, (signal) =>
    confirm({
      message,
      initialValue: false,
      input: terminal.stdin,
      output: terminal.stdout,
      signal,
    }),
  );
  terminal.stdout.write("\n");
  return isCancel(answer) ? undefined : answer;
}
