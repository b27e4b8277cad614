import type { Terminal } from "../terminal.js";

/**
 * Asks the user by a prompt, and cancels the prompt if the input ends, for example after Ctrl-D. A
 * prompt itself is cancelled by Ctrl-C only, and would otherwise wait forever.
 *
 * @param ask shows the prompt. Aborting the signal must cancel it.
 */
export async function untilInputEnds<T>(
  { stdin }: Terminal,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  let isOver = false;
  // The prompt pauses the input when it closes: when the input ends, and after an answer. After an
  // answer, `ask` resolves before the next turn of the event loop.
  const onPause = () => {
    setImmediate(() => {
      if (!isOver) ending.abort();
    });
  };
  stdin.on("pause", onPause);
  try {
    return await ask(ending.signal);
  } finally {
    isOver = true;
    stdin.off("pause", onPause);
  }
}
