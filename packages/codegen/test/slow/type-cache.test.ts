import { mkdir, readdir, symlink, unlink, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { createProject, type Project } from "../project.js";

const modules = fileURLToPath(new URL("../../../../node_modules", import.meta.url));
const cache = "node_modules/.cache/keywright/types.json";

let project: Project;
afterEach(async () => {
  await project?.remove();
});

const typed = (type: string) =>
  `import * as z from "zod";\nexport const name = z.string() as unknown as z.ZodType<${type}>;\n`;

/** A project whose `node_modules` is a folder of its own. */
async function cachingProject(): Promise<void> {
  project = await createProject({
    "keywright.config.ts": 'export default { models: "models/user.ts", output: "db" };\n',
    "models/user.ts": `import { defineModel } from "@keywright/orm";
import * as z from "zod";
import { name } from "../types/name.js";
export const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), name }),
  primaryKey: "id",
});
`,
    "types/name.ts": typed('string & { readonly brand: "a" }'),
    "db/.keep": "",
  });
  await unlink(project.path("node_modules"));
  await mkdir(project.path("node_modules/@keywright"), { recursive: true });
  await symlink(`${modules}/zod`, project.path("node_modules/zod"), "junction");
  for (const name of await readdir(`${modules}/@keywright`)) {
    const link = `node_modules/@keywright/${name}`;
    await symlink(`${modules}/@keywright/${name}`, project.path(link), "junction");
  }
}

async function generated(): Promise<string> {
  expect(await project.spawn(["generate"])).toMatchObject({ exitCode: 0 });
  return await project.read("db/users.ts");
}

it("the compiler is asked again only if a file that it has read has changed", async () => {
  await cachingProject();
  // As if the process that wrote it had been killed.
  await project.write({ [cache]: "{" });
  const first = await generated();
  const stored = JSON.parse(await project.read(cache));
  expect(stored.known.references[0]).not.toEqual([]);
  // With a cache that says something else, its answer shows that it was used.
  stored.known.references = [[]];
  await writeFile(project.path(cache), JSON.stringify(stored));
  const remembered = await generated();
  expect(remembered).not.toBe(first);
  // The model imports the file.
  await project.write({ "types/name.ts": `${typed('string & { readonly brand: "a" }')}\n` });
  expect(await generated()).toBe(first);
});
