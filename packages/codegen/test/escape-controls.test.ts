import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { reportError } from "../src/cli/terminal/report-error.js";
import { showValue, showValueInLine } from "../src/inspect/entries/show-value.js";
import { config, createProject, modelModule } from "./project.js";

const hostile = "a\u001b]0;title\u0007b\u202ec\u2066d";

it("characters of a value that a terminal would execute or reverse are escaped", () => {
  const shown = showValue(new Map([["key", Object.assign(new Error(hostile))]]), false);
  expect(shown).toContain("a\\x1b]0;title\\x07b\\u202ec\\u2066d");
  expect(showValue(hostile, false)).not.toMatch(/[\u202e\u2066]/);
  // The codes of colors of a value too. Those of the command itself stay.
  const hidden = new Error("a\u001b[8mb");
  for (const colors of [false, true]) {
    expect(showValue(hidden, colors)).toContain("a\\x1b[8mb");
    expect(showValueInLine(hidden, colors)).toContain("a\\x1b[8mb");
  }
  expect(showValue(1, true)).toContain("\u001b[33m");
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

it("no argument, file name, key or value reaches the terminal as it is", async () => {
  const name = "a\u001b]0;title\u0007b\u202ec\u2066d\u009b2J\u061c\u001b[8m";
  const colors = new RegExp(`${"\u001b"}\\[[0-9]{1,3}m`, "g");
  const file = "no-model\u001b[2J\u202e.ts";
  const project = await createProject({
    "keywright.config.ts": config.replace("}", ', database: "data" }'),
    "models/user.ts": modelModule("User", "users"),
    [`models/${file}`]: "export const nothing = 1;\n",
    [`notes${name}.txt`]: "no entries",
  });
  try {
    const kv = await openKv(project.path("data"));
    await kv.set([name], { [name]: name });
    await kv.set(["users", name], { id: name, email: name });
    await kv.set(["errors", 1], new Error(name));
    for (const id of ["1", "2"]) await kv.set([`t${name}`, id], { id, n: 1 });
    await kv.close();
    for (const args of [
      [name],
      ["generate", name],
      ["generate", `--${name}`],
      ["generate", "--config", name],
      ["generate"],
      ["generate", "--check", "--json"],
      ["verify", "--model", name],
      ["migrate", "run", name],
      ["inspect", "ls"],
      ["inspect", "ls", "--values"],
      ["inspect", "ls", "--values", "--json"],
      ["inspect", "get", JSON.stringify([name])],
      ["inspect", "get", JSON.stringify([name]), "--json"],
      ["inspect", "get", name],
      ["inspect", "get", JSON.stringify([name, name])],
      ["inspect", "import", `notes${name}.txt`],
      ["inspect", "import", name],
      ["inspect", "export", "--out", `${name}/${name}`],
      ["inspect", "export"],
      ["introspect", "--out", "inferred.ts"],
      ["inspect", "stats"],
      ["inspect", "stats", "--json"],
      ["copy", "--from", name, "--to", name],
      ["adopt", "--from", name],
      ["introspect", "--from", name],
      ["repair", name],
      ["verify", "--files", name],
      ["completion", name],
    ]) {
      for (const columns of [undefined, 60]) {
        const { stdout, stderr } = await project.run(args, columns);
        // Without a terminal, the command itself writes no codes of colors.
        const printed = `${stdout}${stderr}`;
        const text = columns === undefined ? printed : printed.replaceAll(colors, "");
        const found = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u.exec(
          text,
        );
        expect(
          found?.[0].charCodeAt(0).toString(16),
          `${JSON.stringify(args)}: ${text}`,
        ).toBeUndefined();
        expect(text).not.toBe("");
      }
    }
  } finally {
    await project.remove();
  }
});
