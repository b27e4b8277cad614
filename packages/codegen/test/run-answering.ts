import { PassThrough } from "node:stream";
import { run } from "../src/cli/run.js";
import type { Project } from "./project.js";

/** What each question begins with. */
const hiddenCursor = "\x1b[?25l";

export interface Answered {
  readonly exitCode: number;
  readonly stderr: string;
  /** All that the terminal has shown, with control characters. */
  readonly shown: string;
  /** The keys that no question has used. */
  readonly unused: readonly string[];
}

/**
 * Runs the command in a terminal, where each question is answered with the next of these keys.
 * Behind them the input ends.
 */
export async function runAnswering(
  project: Project,
  args: readonly string[],
  keys: readonly string[],
): Promise<Answered> {
  const stream = () => Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const [stdin, stdout] = [stream() as unknown as NodeJS.ReadStream, stream()];
  const remaining = [...keys];
  let [shown, stderr] = ["", ""];
  stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (!text.includes(hiddenCursor)) return;
    const key = remaining.shift();
    setImmediate(() => (key === undefined ? stdin.push(null) : stdin.push(key)));
  });
  const exitCode = await run(args, {
    folder: project.folder,
    enter: () => undefined,
    stdin,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: {
      write: (text: string) => {
        stderr += text;
      },
    } as unknown as NodeJS.WriteStream,
  });
  return { exitCode, stderr, shown, unused: remaining };
}
