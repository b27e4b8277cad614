import { expect, it } from "vitest";
import { reportError } from "../src/cli/terminal/report-error.js";
import { showValue } from "../src/inspect/entries/show-value.js";

const hostile = "a\u001b]0;title\u0007b\u202ec\u2066d";

it("characters of a value that a terminal would execute or reverse are escaped", () => {
  const shown = showValue(new Map([["key", Object.assign(new Error(hostile))]]), false);
  expect(shown).toContain("a\\x1b]0;title\\x07b\\u202ec\\u2066d");
  expect(showValue(hostile, false)).not.toMatch(/[\u202e\u2066]/);
});

it("characters of an error that a terminal would execute or reverse are escaped", () => {
  for (const error of [new Error(hostile), Object.assign(new Error(hostile), { code: "KW_X" })]) {
    let text = "";
    const write = (part: string) => {
      text += part;
    };
    const stderr = { isTTY: false, write };
    reportError(error, { stderr, stdout: stderr, folder: "/" } as never);
    expect(text).toContain("\\x1b]0;title\\x07b\\u202ec\\u2066d");
    for (const character of "\u001b\u0007\u202e\u2066") expect(text).not.toContain(character);
  }
});
