// Measures one of the noted cases: `run-noted-cases.mjs <case> <folder>`.
import { fileURLToPath } from "node:url";
import { runCases } from "../measure/run-cases.mjs";
import { cases, contenders } from "./noted-stores.mjs";

const program = fileURLToPath(new URL("noted-store.mjs", import.meta.url));

export async function runNoted(name, folder) {
  const effort = { rounds: 2, milliseconds: 1 };
  const chosen = cases.filter((each) => each.name === name);
  return await runCases(chosen, contenders, {
    folder,
    count: 1,
    effort,
    note: () => undefined,
    program,
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, folder] = process.argv.slice(2);
  await runNoted(name, folder);
}
