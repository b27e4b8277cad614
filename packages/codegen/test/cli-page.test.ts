import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../src/cli/program.js";
import { cliPage } from "./cli-page.js";

const stream = { write: () => true } as unknown as NodeJS.WriteStream;

function program(): Command {
  const streams = { stdin: {} as NodeJS.ReadStream, stdout: stream, stderr: stream };
  const terminal = { ...streams, folder: "/", enter: () => undefined };
  return createProgram(terminal, () => undefined);
}

/** `npm run docs:cli` writes it anew. */
describe("docs/cli.md", () => {
  const path = join(import.meta.dirname, "../../../docs/cli.md");

  it("is what the commands say", async () => {
    await expect(cliPage(program())).toMatchFileSnapshot(path);
  });

  it("has a section for each command, with each option", () => {
    const page = cliPage(program());
    for (const { words, command } of commandsIn(program(), ["keywright"])) {
      expect(page).toContain(`# \`${words.join(" ")}\`\n`);
      for (const { flags } of command.options) expect(page).toContain(`| \`${flags}\` |`);
    }
  });
});

function commandsIn(
  parent: Command,
  parents: readonly string[],
): { readonly words: readonly string[]; readonly command: Command }[] {
  return parent.commands.flatMap((command) => {
    const words = [...parents, command.name()];
    return [{ words, command }, ...commandsIn(command, words)];
  });
}

describe("the help", () => {
  it("says of each command and each option what it is", () => {
    for (const { words, command } of commandsIn(program(), ["keywright"])) {
      expect(command.description(), words.join(" ")).not.toBe("");
      for (const option of command.options) expect(option.description, option.flags).not.toBe("");
    }
  });
});
