import { readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { playersModule } from "../players-project.js";
import { createProject } from "../project.js";

const config = `import { readFileSync } from "node:fs";
import { openKv } from "@keywright/core";

export default {
  models: "models/*.ts",
  output: "db",
  database: () => openKv(readFileSync("path.txt", "utf8")),
};
`;

it("relative paths begin at the configuration in its code, and at the terminal's folder in options", async () => {
  const project = await createProject({
    "packages/a/keywright.config.ts": config,
    "packages/a/path.txt": "data/app",
    "packages/a/models/player.ts": playersModule("{}"),
  });
  const command = (...args: string[]) =>
    project.spawn([...args, "--config", "packages/a/keywright.config.ts"]);
  try {
    expect(await command("migrate", "run")).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await command("verify")).toMatchObject({ exitCode: 0 });
    expect(await command("inspect", "export", "--out", "all.jsonl")).toMatchObject({
      exitCode: 0,
    });
    expect(await command("generate")).toMatchObject({ exitCode: 0 });
    expect(await readdir(project.folder)).toEqual([
      "all.jsonl",
      "node_modules",
      "package.json",
      "packages",
    ]);
    expect(await readdir(project.path("packages/a"))).toContain("data");
    expect(await readdir(project.path("packages/a"))).toContain("db");
  } finally {
    await project.remove();
  }
});
