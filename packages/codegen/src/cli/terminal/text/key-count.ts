import { styled, type Terminal } from "../terminal.js";
import { shownNumber } from "./counted.js";

export interface KeyCount {
  readonly update: (keys: number) => void;
  /** Removes the count from the terminal. */
  readonly stop: () => void;
}

const updateInterval = 100;

/** Shows a count on a terminal. If `isQuiet`, not if standard output is a terminal too. */
export function keyCount({ stderr, stdout }: Terminal, what: string, isQuiet: boolean): KeyCount {
  if (!stderr.isTTY || process.env.TERM === "dumb" || (isQuiet && stdout.isTTY)) {
    return { update: () => undefined, stop: () => undefined };
  }
  let shownAt = performance.now();
  let isShown = false;
  return {
    update: (keys) => {
      if (performance.now() - shownAt < updateInterval) return;
      shownAt = performance.now();
      isShown = true;
      const text = styled(stderr, "dim", `${what}: ${shownNumber(keys)}`);
      stderr.write(`\r${text}\u001b[K`);
    },
    stop: () => {
      if (isShown) stderr.write("\r\u001b[K");
    },
  };
}
