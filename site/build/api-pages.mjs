import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Application } from "typedoc";
import { writePage } from "./copy-pages.mjs";
import { entryPoints } from "./entry-points.mjs";
import { root } from "./page-list.mjs";
import { filesIn } from "./written-files.mjs";

/**
 * Writes the pages of the API from the docstrings of all packages, one for each exported name.
 *
 * @throws {Error} if TypeDoc reports an error.
 */
export async function writeApiPages(folder) {
  const points = entryPoints();
  const written = mkdtempSync(join(tmpdir(), "keywright-api-"));
  try {
    const app = await Application.bootstrapWithPlugins({
      plugin: ["typedoc-plugin-markdown"],
      outputs: [{ name: "markdown", path: written }],
      entryPoints: points.map(({ source }) => source),
      tsconfig: fileURLToPath(new URL("../api/tsconfig.json", import.meta.url)),
      basePath: root,
      logLevel: "Error",
      readme: "none",
      entryFileName: "index",
      outputFileStrategy: "members",
      // `npm test` has checked the types.
      skipErrorChecking: true,
      excludePrivate: true,
      excludeInternal: true,
      excludeExternals: true,
      disableSources: true,
      hideBreadcrumbs: true,
      hidePageHeader: true,
      useCodeBlocks: true,
      parametersFormat: "table",
    });
    const project = await app.convert();
    if (project === undefined) throw new Error("TypeDoc could not read the packages.");
    for (const module of project.children ?? []) module.name = folderOf(module.name, points);
    await app.generateOutputs(project);
    if (app.logger.hasErrors()) throw new Error("TypeDoc reported errors.");
    for (const file of filesIn(written)) {
      const text = readFileSync(join(written, file), "utf8");
      writePage(folder, join("api", file), withoutRepeatedHeadings(withName(text, points)));
    }
  } finally {
    rmSync(written, { recursive: true, force: true });
  }
}

/** TypeDoc names an entry point after its folder or file, as in `packages/core/src/testing`. */
function folderOf(name, points) {
  const found = points.find(({ source }) => {
    const path = source.slice(root.length).replace(/\.ts$/, "");
    return path === name || path === `${name}/index`;
  });
  if (found === undefined) throw new Error(`No entry point has the source ${name}.`);
  return found.folder;
}

/** Gives the page of an entry point the name with which programs import it. */
function withName(text, points) {
  return text.replace(/^# (\S+)$/m, (all, title) => {
    const found = points.find(({ folder }) => folder === title);
    return found === undefined ? all : `# ${found.name}`;
  });
}

/** TypeDoc writes a heading for each `@throws`. One heading can have them all. */
function withoutRepeatedHeadings(text) {
  let last = "";
  const lines = text.split("\n").filter((line) => {
    if (!/^#+ /.test(line)) return true;
    const isRepeated = line === last && /^#+ Throws$/.test(line);
    last = line;
    return !isRepeated;
  });
  return lines.join("\n");
}
