import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { wrap } from "../src/cli/terminal/text/wrap.js";
import {
  type Player,
  players,
  playersConfig,
  playersModule,
  playersProject,
} from "./players-project.js";
import { createProject, type Project } from "./project.js";

const columns = 60;

let project: Project;

// Styles would make the lines of these tests unreadable.
beforeEach(() => vi.stubEnv("NO_COLOR", "1"));
afterEach(async () => {
  vi.unstubAllEnvs();
  await project?.remove();
});

/** Runs a command on a terminal with 60 columns, and returns what both streams show. */
async function shown(args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await project.run(args, columns);
  // Progress bars move the cursor.
  const messages = stderr.split("\n").filter((line) => !/\p{Cc}/u.test(line));
  const text = [stdout, ...messages].join("\n").trimEnd();
  for (const line of text.split("\n")) {
    if (!line.startsWith("  npx ")) expect(line.length).toBeLessThanOrEqual(columns);
  }
  // A command is never a part of a sentence, except in backticks.
  expect(text).not.toMatch(/^(?! {2}npx | {2}\d\. npx ).*(?<!`)npx keywright/m);
  return text;
}

describe("wrap", () => {
  it("leaves a command whole, also if it is longer than a line", () => {
    const command = "  npx keywright migrate status --duplicates accounts.byEmailAddress";
    expect(wrap(`To list them:\n${command}`, 40)).toBe(`To list them:\n${command}`);
  });

  it("does not break quotations and keys that fit", () => {
    const text =
      'look at the key ["users", "a b"] and run `npx keywright generate` again "now and then"';
    expect(wrap(text, 34).split("\n")).toEqual([
      'look at the key ["users", "a b"]',
      "and run `npx keywright generate`",
      'again "now and then"',
    ]);
    expect(wrap('a "long long long quotation that does not fit"', 24).split("\n")).toEqual([
      'a "long long long',
      "quotation that does not",
      'fit"',
    ]);
  });

  it("continues below the last column that leaves enough room", () => {
    expect(wrap("  byEmail  pending  a remark of many words, too long", 45).split("\n")).toEqual([
      "  byEmail  pending  a remark of many words,",
      "                    too long",
    ]);
    expect(wrap("  byEmail  pending  a remark of many words, too long", 40).split("\n")).toEqual([
      "  byEmail  pending  a remark of many",
      "           words, too long",
    ]);
    // The note of an example has a line of its own if there is no room beside the command.
    expect(wrap("  $ keywright inspect ls --values   list the users", 36).split("\n")).toEqual([
      "  $ keywright inspect ls --values",
      "      list the users",
    ]);
    expect(wrap("  - an item of a list that is too long", 24).split("\n")).toEqual([
      "  - an item of a list",
      "    that is too long",
    ]);
  });
});

describe("on a terminal with 60 columns", () => {
  const byScore = 'byScore: { key: "score", unique: true }';
  const sameScores = (): Player[] => players(6).map((row) => ({ ...row, score: "1" }));

  it("migrate shows the plan, duplicates and what to do", async () => {
    project = await playersProject(sameScores(), `{ ${byScore} }`);
    expect(await shown(["migrate", "plan"])).toContain(
      [
        "To run the plan:",
        "  npx keywright migrate run",
        "It asks before it runs breaking steps. Without a terminal,",
        "use --accept with their ids.",
      ].join("\n"),
    );
    expect(await shown(["migrate", "run"])).toMatch(/\n {2}"players.byTeam: drop-index"$/);
    expect(await shown(["migrate", "run", "--accept-all"])).toContain(
      [
        "players  byScore is unique, but 5 rows have a value that is",
        "         already taken:",
        '  "1"  in rows "00000", "00001", "00002", "00003", "00004",',
        '       "00005"',
        "To list all:",
        "  npx keywright migrate status --duplicates players.byScore",
        "",
        "Not complete. Change or delete all but one row of each",
      ].join("\n"),
    );
    expect(await shown(["migrate", "plan"])).toContain(
      [
        "players.byScore is not readable, because rows share values.",
        "To list them:",
        "  npx keywright migrate status --duplicates players.byScore",
      ].join("\n"),
    );
    expect(await shown(["migrate", "status"])).toContain(
      [
        "  byScore  unique-pending  5 rows with a value that is",
        "                           already taken",
        "",
        "1 step is left. To see the plan:",
        "  npx keywright migrate plan",
      ].join("\n"),
    );
    expect(await shown(["migrate", "status", "--duplicates", "players.byScore"])).toBe(
      '"1"  in rows "00000", "00001", "00002", "00003", "00004",\n     "00005"',
    );
    expect(await shown(["verify"])).toContain(
      [
        "Damaged. Correct the rest yourself, then verify again:",
        "  - change the value of one of two rows that share a unique",
        "    value",
      ].join("\n"),
    );
  });

  it("migrate shows failed rows", async () => {
    const numbers = "z.object({ id: z.string(), team: z.string(), score: z.int() })";
    const byTeam = '{ byTeam: { key: "team" } }';
    project = await playersProject([{ id: "x", team: "red", score: "nine" }], byTeam, {
      "models/player.ts": playersModule(byTeam, numbers),
      "migration.ts": `import { defineMigration } from "@keywright/orm";
import * as z from "zod";
import { Player } from "./models/player.js";

export const scores = defineMigration({
  model: Player,
  from: z.object({ id: z.string(), team: z.string(), score: z.string() }),
  to: z.object({ id: z.string(), team: z.string(), score: z.int() }),
  up: (row) => ({ ...row, score: Number(row.score) }),
});
`,
      "keywright.config.ts": playersConfig(
        "migrations: [scores],",
        'import { scores } from "./migration.js";',
      ),
    });
    expect(await shown(["migrate", "run", "--accept-failures"])).toContain(
      "To list all:\n  npx keywright migrate status --failed players\n\nNot complete. Correct the migration or the rows, then:\n  npx keywright migrate resume",
    );
    expect(await shown(["migrate", "status", "--failed", "players"])).toBe(
      '"x"  It would not fit the schema. score: Invalid input:\n     expected number, received NaN',
    );
  });

  it("migrate shows the source of a migration that is missing without breaking its lines", async () => {
    const numbers = "z.object({ id: z.string(), team: z.string(), score: z.int() })";
    project = await playersProject(players(1), "{}", {
      "models/player.ts": playersModule("{}", numbers),
    });
    expect(await shown(["migrate", "plan"])).toContain(
      "              to: z.object({ … }), // its new schema\n              up: ",
    );
  });

  it("init prints commands that fit", async () => {
    project = await createProject({});
    const text = await shown(["init", "app", "--yes", "--database", "sqlite:data/app.sqlite"]);
    expect(text).toContain("\n  npm install -D @keywright/codegen typescript @types/node\n");
  });

  it("generate --check, inspect, copy and introspect end with whole lines", async () => {
    project = await playersProject(sameScores(), `{ ${byScore} }`);
    expect(await shown(["generate", "--check"])).toMatch(/To update:\n {2}npx keywright generate$/);
    await shown(["migrate", "run", "--accept-all"]);
    expect(await shown(["inspect", "stats"])).toMatch(
      /^Bytes are those of the encoded keys and values, not the size\non disk\.$/m,
    );
    await shown(["introspect", "data"]);
    await shown(["copy", "data", "other"]);
    await shown(["migrate", "new", "x"]);
    await shown(["adopt"]);
  });
});
