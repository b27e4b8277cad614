import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(`${root}${folder}package.json`, "utf8"));
}

it("the scripts of the workspace call scripts that exist", () => {
  const own = manifest("");
  const folders = ["site", ...readdirSync(`${root}packages`).map((name) => `packages/${name}`)];
  const packages = folders.map((folder) => manifest(`${folder}/`));
  const missing: string[] = [];
  let calls = 0;
  for (const [script, text] of Object.entries(own.scripts ?? {})) {
    for (const [, called = "", options = ""] of text.matchAll(/npm run ([\w:-]+)((?: -w \S+)*)/g)) {
      calls++;
      const names = options.split(" -w ").slice(1);
      const of =
        names.length === 0 ? [own] : names.map((name) => packages.find((one) => one.name === name));
      if (!of.every((one) => one?.scripts?.[called] !== undefined))
        missing.push(`${script}: ${called}`);
    }
  }
  expect(missing).toEqual([]);
  expect(calls).toBeGreaterThan(10);
});
