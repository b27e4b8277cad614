import { afterEach, expect, it, vi } from "vitest";
import { hasColors } from "../src/cli/terminal/terminal.js";

afterEach(() => vi.unstubAllEnvs());

it.each([
  { isTTY: true, TERM: "xterm", NO_COLOR: "", expected: true },
  { isTTY: true, TERM: "dumb", NO_COLOR: "", expected: false },
  { isTTY: true, TERM: "xterm", NO_COLOR: "1", expected: false },
  { isTTY: false, TERM: "xterm", NO_COLOR: "", expected: false },
])("colors with %o", ({ isTTY, TERM, NO_COLOR, expected }) => {
  vi.stubEnv("TERM", TERM);
  vi.stubEnv("NO_COLOR", NO_COLOR);
  expect(hasColors({ isTTY } as NodeJS.WriteStream)).toBe(expected);
});
