import { afterEach, expect, it, vi } from "vitest";
import { hasColors } from "../src/cli/terminal/terminal.js";
import { runHere } from "./project.js";

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

it.each([
  [["help", "nope"], "error: unknown command 'nope'"],
  [["help", "inspect", "nope"], "error: unknown command 'nope'"],
  [["help", "inspect", "get", "nope"], "error: the command inspect get has no commands"],
])("the help of a command that does not exist says so: %j", async (args, text) => {
  const { exitCode, stdout, stderr } = await runHere("/", args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr.split("\n")[0]).toBe(text);
});
