// Copies the pages that `keywright docs` prints into packages/codegen/dist/docs. The build of
// @keywright/codegen runs it. Links to other pages of the repository become URLs.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { replaceLinks } from "../site/build/markdown.mjs";
import { repositoryAddress } from "../site/build/repository.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = join(root, "packages/codegen/dist/docs");

/** Pages with figures and about the repository, which do not say how to use Keywright. */
const excluded = ["benchmarks.md", "dependencies.md", "reliability.md", "type-cost.md"];

const pages = ["", "migrations/"].flatMap((folder) =>
  readdirSync(join(root, "docs", folder))
    .filter((name) => name.endsWith(".md") && !excluded.includes(name))
    .map((name) => folder + name),
);

const repository = repositoryAddress();
rmSync(target, { recursive: true, force: true });
for (const page of pages) {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const copied = replaceLinks(text, (link) => {
    const [path, anchor] = link.split("#");
    const found = posix.join("docs", posix.dirname(page), path);
    if (pages.some((each) => `docs/${each}` === found)) return link;
    const end = anchor === undefined ? "" : `#${anchor}`;
    return repository === undefined ? undefined : `${repository}/${found}${end}`;
  });
  mkdirSync(join(target, dirname(page)), { recursive: true });
  writeFileSync(join(target, page), copied);
}
