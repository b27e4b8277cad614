import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgramOfReadme } from "./first-steps.mjs";
import { done } from "./run.mjs";

/** Reads with the new version what the old one has stored, and prints it. */
const readStored = `
import { openKv } from "@keywright/core";
const kv = await openKv("data/example");
const users = [];
for await (const { value } of kv.list({ prefix: ["users"] })) users.push(value.name + " " + value.favoriteColor);
console.log(users.join(", "));
await kv.close();
`;

/**
 * Upgrades a project that has data, and compares what the new version reads. The program of the
 * README, which updates its rows, then runs again.
 */
export async function upgradeProject(folder, install, names, version, options) {
  const within = { ...options, cwd: folder };
  writeFileSync(join(folder, "read-stored.mjs"), readStored);
  const read = () => done(process.execPath, ["read-stored.mjs"], within);
  const before = await read();
  if (before.trim() === "") throw new Error("The project has no data to upgrade.");
  const own = names.filter((name) => name.startsWith("@keywright/"));
  await done(process.execPath, [...install, ...own.map((name) => `${name}@${version}`)], within);
  const command = "node_modules/@keywright/codegen/bin/keywright.js";
  const found = (await done(process.execPath, [command, "--version"], within)).trim();
  if (found !== version)
    throw new Error(`keywright --version says ${found} instead of ${version}.`);
  const after = await read();
  if (after !== before) throw new Error(`Version ${version} reads ${after}, not ${before}.`);
  const plan = await done(process.execPath, [command, "migrate", "plan"], within);
  const verified = await done(process.execPath, [command, "verify"], within);
  await runProgramOfReadme(folder, options);
  return { rows: before.trim(), plan: plan.trim(), verified: verified.trim().split("\n").at(-1) };
}
