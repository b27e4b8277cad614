import { styled, type Terminal } from "./terminal.js";

/** Shows how far a command has come that looks at many keys. */
export interface KeyCount {
  readonly update: (keys: number) => void;
  /** Takes it away. */
  readonly stop: () => void;
}

/** Milliseconds. */
const between = 100;

/** A count on a terminal's standard error, and nothing elsewhere or where lines go to the same terminal. */
export function keyCount({ stderr, stdout }: Terminal, what: string, isQuiet: boolean): KeyCount {
  if (!stderr.isTTY || process.env.TERM === "dumb" || (isQuiet && stdout.isTTY)) {
    return { update: () => undefined, stop: () => undefined };
  }
  let shownAt = performance.now();
  let isShown = false;
  return {
    update: (keys) => {
      if (performance.now() - shownAt < between) return;
      shownAt = performance.now();
      isShown = true;
      const text = styled(stderr, "dim", `${what}: ${keys.toLocaleString("en-US")}`);
      stderr.write(`\r${text}\u001b[K`);
    },
    stop: () => {
      if (isShown) stderr.write("\r\u001b[K");
    },
  };
}
