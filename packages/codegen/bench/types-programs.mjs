// The programs whose types are checked, each written to a folder of its own.
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";

const load = createJiti(import.meta.url);
const { readFiles, runGenerate, runNode, writeFiles } = await load.import("./types/files.ts");
const { configuration, generatedProgram, inferredProgram, modelFiles } = await load.import(
  "./types/keywright-program.ts",
);
const { drizzleProgram } = await load.import("./types/drizzle-program.ts");
const { prismaProgram, prismaSchema } = await load.import("./types/prisma-program.ts");

const workspaceModules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const prismaModules = fileURLToPath(new URL("node_modules", import.meta.url));

/** For each library by its name, the paths of the parts of its program with `count` models. */
export async function writePrograms(folder, count) {
  return {
    inferred: await writeProgram(await workspaceProject(join(folder, "inferred")), () =>
      inferredProgram(count),
    ),
    generated: await writeProgram(await workspaceProject(join(folder, "generated")), async (at) => {
      await writeFiles(at, { ...configuration, ...modelFiles(count) });
      runGenerate(at);
      return generatedProgram(count, await readFiles(at, "db"));
    }),
    prisma: await writeProgram(await prismaProject(join(folder, "prisma")), async (at) => {
      await writeFiles(at, prismaSchema(count));
      generateClient(at);
      return prismaProgram(count, await readFiles(at, "client"));
    }),
    drizzle: await writeProgram(await workspaceProject(join(folder, "drizzle")), () =>
      drizzleProgram(count),
    ),
  };
}

async function writeProgram(folder, make) {
  const program = await make(folder);
  const parts = Object.entries(program).map(async ([part, files]) => [
    part,
    await writeFiles(folder, files),
  ]);
  return Object.fromEntries(await Promise.all(parts));
}

async function workspaceProject(folder) {
  await emptyProject(folder);
  await symlink(workspaceModules, join(folder, "node_modules"), "junction");
  return folder;
}

async function prismaProject(folder) {
  await emptyProject(folder);
  await mkdir(join(folder, "node_modules"));
  const link = (from, name) =>
    symlink(join(from, name), join(folder, "node_modules", name), "junction");
  await link(prismaModules, "@prisma");
  await link(workspaceModules, "@types");
  return folder;
}

async function emptyProject(folder) {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
}

/**
 * Prisma would download its engines first. They are not used here, so any program can replace them.
 */
function generateClient(folder) {
  const prisma = join(prismaModules, "prisma", "build", "index.js");
  runNode(folder, [prisma, "generate", "--schema", "schema.prisma"], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_QUERY_ENGINE_LIBRARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: "1",
    CHECKPOINT_DISABLE: "1",
  });
}
