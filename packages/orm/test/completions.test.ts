import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const here = fileURLToPath(new URL(".", import.meta.url));
const file = join(here, "completed.ts");
let text = "";
let version = 0;

const service = ts.createLanguageService({
  getScriptFileNames: () => [file],
  getScriptVersion: (name) => (name === file ? String(version) : "0"),
  getScriptSnapshot: (name) => {
    const content = name === file ? text : ts.sys.readFile(name);
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
  },
  getCurrentDirectory: () => here,
  getCompilationSettings: () => ({
    strict: true,
    exactOptionalPropertyTypes: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    types: ["node"],
    skipLibCheck: true,
  }),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (name) => name === file || ts.sys.fileExists(name),
  readFile: (name) => (name === file ? text : ts.sys.readFile(name)),
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

/** What an editor offers at the `|` of an expression. */
function offered(expression: string): string[] {
  const before = 'import type { Db } from "./types-models.js";\ndeclare const db: Db;\n';
  const position = before.length + expression.indexOf("|");
  text = before + expression.replace("|", "");
  version++;
  const { entries = [] } = service.getCompletionsAtPosition(file, position, {}) ?? {};
  const kinds: readonly string[] = ["property", "string", "method"];
  return entries
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ name }) => name)
    .sort();
}

it("offer the fields that indexes have, their conditions and values, and relations", () => {
  const indexed = "byInitial byWords id level marks nick playedAt rank round score tags team";
  expect(offered("db.games.findMany({ where: { | } })")).toEqual(["OR", ...indexed.split(" ")]);
  expect(offered("db.games.findMany({ orderBy: { | } })")).toEqual(indexed.split(" "));
  expect(offered("db.games.findMany({ where: { team: { | } } })")).toEqual(
    "between equals gt gte in lt lte startsWith".split(" "),
  );
  expect(offered('db.games.findMany({ where: { level: "|" } })')).toEqual(["easy", "hard"]);
  expect(offered('db.games.findMany({ orderBy: { team: "|" } })')).toEqual(["asc", "desc"]);
  expect(offered("db.games.findUnique({ where: { | } })")).toEqual(
    "id level nick round".split(" "),
  );
  expect(offered('db.users.findUnique({ where: { id: "x" }, select: { | } })')).toEqual(
    "id name teamId".split(" "),
  );
  expect(offered("db.users.findMany({ where: { | } })")).toEqual(
    "OR badge id posts team teamId".split(" "),
  );
  expect(offered("db.users.findMany({ where: { posts: { | } } })")).toEqual(["none", "some"]);
  expect(offered("db.users.findMany({ where: { posts: { some: { | } } } })")).toEqual(
    "OR at author authorId id tags".split(" "),
  );
  const posts = (part: string) =>
    offered(`db.users.findUnique({ where: { id: "x" }, include: { ${part} } })`);
  expect(posts("|")).toEqual("_count badge posts team".split(" "));
  expect(posts("posts: { | }")).toEqual("filter include orderBy select take where".split(" "));
  expect(posts("posts: { select: { | } }")).toEqual("at authorId id title".split(" "));
});
