// Compares generated repositories at run time with the repositories of @keywright/orm whose types
// are inferred, on one database in memory: `npm run bench:repositories`. ROUNDS is the number of
// measurements of each.
import { mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openKv } from "@keywright/core";
import { createDatabase } from "@keywright/orm";
import { measure } from "mitata";
import ts from "typescript";
import { generate } from "../dist/generate/generate.js";

const model = `import { defineModel } from "@keywright/orm";
import * as z from "zod";
export const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), name: z.string(), email: z.email(), color: z.string(), age: z.int() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byColor: { key: "color" } },
});
`;
const rounds = Number(process.env.ROUNDS ?? 9);
const milliseconds = 150;
const rows = 1000;

/** Generates the repository of a model in a separate project, and loads it as plain JavaScript. */
async function loadGenerated(folder) {
  const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
  await symlink(modules, join(folder, "node_modules"), "junction");
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
  await writeFile(join(folder, "user.ts"), model);
  const config = 'export default { models: "user.ts", output: "db" };\n';
  await writeFile(join(folder, "keywright.config.ts"), config);
  await generate({ folder });
  const files = [
    join(folder, "user.ts"),
    ...(await readdir(join(folder, "db"))).map((name) => join(folder, "db", name)),
  ];
  for (const file of files) {
    const { outputText } = ts.transpileModule(await readFile(file, "utf8"), {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    await writeFile(file.replace(/\.ts$/, ".js"), outputText);
  }
  const load = (name) => import(pathToFileURL(join(folder, name)).href);
  const { User } = await load("user.js");
  const { repositoriesOf } = await load("db/index.js");
  return { User, repositoriesOf };
}

/** For each operation the same work by both; each call takes another row. */
async function operationsOf({ User, repositoriesOf }, kv) {
  const db = await createDatabase({ kv, models: { users: User } });
  const { users } = repositoriesOf(db);
  let made = 0;
  const next = () => {
    const number = made++;
    return { name: "Ada", email: `${number}@example.com`, color: `color ${number % 50}`, age: 36 };
  };
  const all = [];
  for (let i = 0; i < rows; i++) all.push(await users.create(next()));
  let turn = 0;
  const row = () => all[turn++ % rows];
  return {
    findById: [
      () => users.findById(row().id),
      () => db.users.findUnique({ where: { id: row().id } }),
    ],
    findByEmail: [
      () => users.findByEmail(row().email),
      () => db.users.findUnique({ where: { email: row().email } }),
    ],
    "listByColor, 20 rows": [
      () => users.listByColor(row().color),
      () => db.users.findMany({ where: { color: row().color } }),
    ],
    update: [
      () => users.update(row().id, { age: turn }),
      () => db.users.update({ where: { id: row().id }, data: { age: turn } }),
    ],
    create: [() => users.create(next()), () => db.users.create({ data: next() })],
  };
}

async function nanoseconds(run) {
  const options = { gc: false, min_cpu_time: milliseconds * 1e6, min_samples: 2 };
  return (await measure(async () => await run(), options)).p50;
}

function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)];
}

const folder = await realpath(await mkdtemp(join(tmpdir(), "keywright-bench-")));
const kv = await openKv();
try {
  const operations = await operationsOf(await loadGenerated(folder), kv);
  console.log("operation              generated    inferred  times as fast (middle half)");
  for (const [name, [generated, inferred]] of Object.entries(operations)) {
    const times = [];
    for (let round = 0; round <= rounds; round++) {
      // Each is first in every other round; the first round is not counted.
      const isFirst = round % 2 === 0;
      const a = await nanoseconds(isFirst ? generated : inferred);
      const b = await nanoseconds(isFirst ? inferred : generated);
      if (round > 0) times.push(isFirst ? [a, b] : [b, a]);
    }
    const ratios = times.map(([ours, theirs]) => theirs / ours);
    const micro = (at) =>
      `${(
        quantile(
          times.map((time) => time[at]),
          0.5,
        ) / 1000
      ).toFixed(2)} µs`;
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) =>
      quantile(ratios, share).toFixed(2),
    );
    console.log(
      `${name.padEnd(22)} ${micro(0).padStart(9)}  ${micro(1).padStart(9)}  ${middle} (${low}–${high})`,
    );
  }
} finally {
  await kv.close();
  await rm(folder, { recursive: true });
}
