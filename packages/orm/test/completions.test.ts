import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const here = fileURLToPath(new URL(".", import.meta.url));
const file = join(here, "completed.ts");

const indexed = "byInitial byWords id level marks nick playedAt rank round score tags team";
const posts = (part: string) => `db.users.findUnique({ where: { id: "x" }, include: { ${part} } })`;

/** Expressions with a `|` where an editor is asked, and what it offers there. */
const expected: readonly (readonly [expression: string, names: string])[] = [
  ["db.games.findMany({ where: { | } })", `OR ${indexed}`],
  ["db.games.findMany({ orderBy: { | } })", indexed],
  ["db.games.findMany({ where: { team: { | } } })", "between equals gt gte in lt lte startsWith"],
  ['db.games.findMany({ where: { level: "|" } })', "easy hard"],
  ['db.games.findMany({ orderBy: { team: "|" } })', "asc desc"],
  ["db.games.findUnique({ where: { | } })", "id level nick round"],
  ['db.users.findUnique({ where: { id: "x" }, select: { | } })', "id name teamId"],
  ["db.users.findMany({ where: { | } })", "OR badge id posts team teamId"],
  ["db.users.findMany({ where: { posts: { | } } })", "none some"],
  ["db.users.findMany({ where: { posts: { some: { | } } } })", "OR at author authorId id tags"],
  [posts("|"), "_count badge posts team"],
  [posts("posts: { | }"), "filter include orderBy select take where"],
  [posts("posts: { select: { | } }"), "at authorId id title"],
];

/** A module with all expressions: each program of the compiler would read all types again. */
let text = 'import type { Db } from "./types-models.js";\ndeclare const db: Db;\n';
const positions = expected.map(([expression]) => {
  const position = text.length + expression.indexOf("|");
  text += `${expression.replace("|", "")};\n`;
  return position;
});

const service = ts.createLanguageService({
  getScriptFileNames: () => [file],
  getScriptVersion: () => "0",
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

/** What an editor offers at a place in the module. */
function offered(position: number): string {
  const { entries = [] } = service.getCompletionsAtPosition(file, position, {}) ?? {};
  const kinds: readonly string[] = ["property", "string", "method"];
  return entries
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ name }) => name)
    .sort()
    .join(" ");
}

it("offer the fields that indexes have, their conditions and values, and relations", () => {
  const found = expected.map(([expression], i) => [expression, offered(positions[i]!)]);
  expect(found).toEqual(expected);
});
