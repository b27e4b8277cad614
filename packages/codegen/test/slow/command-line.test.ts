import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { createProject, runHere, spawnCommand } from "../project.js";

const spawn = (...args: string[]) => spawnCommand(tmpdir(), args);
/** Each process takes most of a second. */
const run = (...args: string[]) => runHere(tmpdir(), args);

describe("the command line", () => {
  it("prints help, with an example", async () => {
    const { exitCode, stdout, stderr } = await spawn("generate", "--help");
    expect(stdout).toContain("Usage: keywright generate [options]");
    expect(stdout).toContain("$ keywright generate --check");
    for (const file of ["<model>.ts", "index.ts", "keywright.lock.json"]) {
      expect(stdout).toContain(`  ${file}  `);
    }
    expect(stdout).toContain('defineConfig({ models: "src/models/*.ts", output: "src/db" })');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect((await run("--help")).stdout).toContain("generate [options]");
  });

  it("prints its version", async () => {
    const { exitCode, stdout } = await spawn("--version");
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(exitCode).toBe(0);
  });

  it.each([
    { args: ["generat"], message: "unknown command 'generat'", nearest: "generate" },
    { args: ["generate", "--chek"], message: "unknown option '--chek'", nearest: "--check" },
  ])("suggests the nearest for $args", async ({ args, message, nearest }) => {
    const { exitCode, stdout, stderr } = await run(...args);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`Did you mean ${nearest}?`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  it("prints the help of a command within a command", async () => {
    const { exitCode, stdout } = await run("help", "migrate", "run");
    expect(stdout).toContain("Usage: keywright migrate run [options]");
    expect(exitCode).toBe(0);
    expect((await run("help", "migrate")).stdout).toContain("Usage: keywright migrate [options]");
    expect((await run("help")).stdout).toContain("Usage: keywright <command>");
    expect((await run("help", "generat", "x")).exitCode).toBe(2);
  });

  it("takes no further arguments, and wants a command", async () => {
    expect((await run("generate", "users")).exitCode).toBe(2);
    const { exitCode, stderr } = await spawn();
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Usage: keywright");
  });
});

describe("an error", () => {
  it("is shown with the user's file and line, and without a stack", async () => {
    const project = await createProject({
      "keywright.config.ts": 'export default { models: "models/*.ts", output: "db" };\n',
      "models/user.ts":
        'import { tableName } from "../names.js";\nexport const name: string = tableName();\n',
      "names.ts": [
        "interface Names {",
        "  readonly users: string;",
        "}",
        "const names: Partial<Names> = {};",
        "export function tableName(): string {",
        "  return names.users!.toLowerCase();",
        "}",
      ].join("\n"),
    });
    try {
      const { exitCode, stdout, stderr } = await project.spawn(["generate"]);
      expect(stderr.replaceAll("\\", "/").split("\n")).toEqual([
        "error KW_MODULE_FAILED: models/user.ts: loading the module failed at names.ts:6; correct it as the cause says. The module must load without a database and without arguments",
        expect.stringMatching(/^ {2}cause: TypeError: Cannot read properties of undefined/),
        "",
      ]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    } finally {
      await project.remove();
    }
  });

  it("of a model's definition shows what the definition's error says", async () => {
    const project = await createProject({
      "keywright.config.ts": 'export default { models: "user.ts", output: "db" };\n',
      "user.ts": `import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string() }),
  primaryKey: "uuid" as "id",
});
`,
    });
    try {
      const { exitCode, stderr } = await project.spawn(["generate"]);
      expect(stderr).toContain(" at user.ts:4;");
      expect(stderr).toContain("cause: ModelDefinitionError KW_MODEL_INVALID: ");
      expect(stderr).toContain("primaryKey");
      expect(stderr).toContain('the schema has no field "uuid"');
      expect(exitCode).toBe(1);
    } finally {
      await project.remove();
    }
  });

  it("comes to an end though a model's module holds the process open", async () => {
    const project = await createProject({
      "keywright.config.ts": 'export default { models: "user.ts", output: "db" };\n',
      "user.ts": "setInterval(() => undefined, 1000);\nexport const nothing = 1;\n",
    });
    try {
      const { exitCode, stderr } = await project.spawn(["generate"]);
      expect(stderr).toContain("KW_MODULE_WITHOUT_MODEL");
      expect(exitCode).toBe(1);
    } finally {
      await project.remove();
    }
  });
});
