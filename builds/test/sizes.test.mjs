// Bundles are not larger than their limits, and hold nothing that their program does not use.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { expect, it } from "vitest";
import { readsAndWrites } from "../.size-limit.mjs";

const folder = fileURLToPath(new URL("..", import.meta.url));
const manifest = createRequire(import.meta.url).resolve("size-limit/package.json");
const sizeLimit = join(dirname(manifest), "bin.js");

it("are at most as large as their limits, and as the page says", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [sizeLimit, "--json"], {
    cwd: folder,
  });
  const page = await readFile(new URL("../../docs/runtimes.md", import.meta.url), "utf8");
  for (const { name, passed, size } of JSON.parse(stdout)) {
    expect([name, passed]).toEqual([name, true]);
    const stated = Number(page.match(new RegExp(`^\\| ${name}\\b.*\\| (\\d+) kB`, "m"))?.[1]);
    expect(Math.abs(size / 1000 / stated - 1), `${name}: ${size} bytes`).toBeLessThan(0.05);
  }
});

it("have nothing that changes databases if the program only reads and writes", async () => {
  const contents = Object.entries(readsAndWrites)
    .map(([path, names]) => `export ${names} from ${JSON.stringify(path)};`)
    .join("\n");
  const { metafile } = await esbuild.build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    external: ["zod", "classic-level"],
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const unused = Object.keys(inputs).filter(
    (file) =>
      /orm\/dist\/(migrate|run|adopt|testing)\b/.test(file) && inputs[file].bytesInOutput > 0,
  );
  expect(unused).toEqual([]);
});
