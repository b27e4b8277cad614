import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";
import { calls, header, mistakes } from "./mistakes.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const file = join(here, "completed.ts");
const mistaken = join(here, "mistaken.ts");

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
  [
    "db.teams.findMany({ | })",
    "cursor filter include index maxReads orderBy select signal skip take where withDeleted withVersionstamp",
  ],
  ["db.users.create({ data: { | } })", "badge id name posts team teamId"],
  [
    'db.games.findMany({ index: "by|" })',
    "byInitial byLevelAndTime byMark byNick byOpen byRank bySlot byTag byTeamAndRank byTeamAndScore byWords",
  ],
  ['db.users.groupBy({ by: ["teamId"], count: true, orderBy: { | } })', "count teamId"],
];

/** A module with all expressions: each program of the compiler would read all types again. */
let text = 'import type { Db } from "./types-models.js";\ndeclare const db: Db;\n';
const positions = expected.map(([expression]) => {
  const position = text.length + expression.indexOf("|");
  text += `${expression.replace("|", "")};\n`;
  return position;
});

/** A module of the same program, with what is asked of the compiler on one line each. */
const lines = [...Object.values(mistakes), ...calls];
/** The variables that hold the results of the right calls. */
const results = calls.map((call, i) => `const result${i} = await ${call}`);
const asked = `${header}${[...lines, ...results].join("\n")}`;

/** The modules that are not files. */
const modules: ReadonlyMap<string, string> = new Map([
  [file, text],
  [mistaken, asked],
]);
const read = (name: string) => modules.get(name) ?? ts.sys.readFile(name);

const service = ts.createLanguageService({
  getScriptFileNames: () => [...modules.keys()],
  getScriptVersion: () => "0",
  getScriptSnapshot: (name) => {
    const content = read(name);
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
  fileExists: (name) => modules.has(name) || ts.sys.fileExists(name),
  readFile: read,
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

/** What the compiler says about each line of the other module. The header has to compile. */
function messages(): string[] {
  const first = header.split("\n").length - 1;
  const found = lines.map((): string[] => []);
  const diagnostics = [
    ...service.getSyntacticDiagnostics(mistaken),
    ...service.getSemanticDiagnostics(mistaken),
  ];
  for (const { file: source, start = 0, length = 0, messageText } of diagnostics) {
    const { line } = ts.getLineAndCharacterOfPosition(source!, start);
    const place = asked.slice(start, start + length);
    const message = ts.flattenDiagnosticMessageText(messageText, "\n").replaceAll(/^/gm, "  ");
    found[line - first]!.push(`at ${place}:\n${message}`);
  }
  return found.map((each) => each.join("\n"));
}

it("the compiler says at each mistake what to do", async () => {
  const said = messages();
  const ofCalls = said.splice(-calls.length);
  expect(ofCalls.join("")).toBe("");
  expect(said).not.toContain("");
  const golden = Object.entries(mistakes).map(([title, line], i) => {
    return `## ${title}\n${line}\n${said[i]}\n`;
  });
  await expect(golden.join("\n")).toMatchFileSnapshot("golden/type-errors.txt");
});

it("an editor shows the options of a method, the result and what they are for", async () => {
  let end = header.length + lines.slice(0, -calls.length).join("\n").length;
  const hover = (position: number) =>
    ts.displayPartsToString(service.getQuickInfoAtPosition(mistaken, position, 500)?.displayParts);
  const golden = calls.map((line, i) => {
    const start = end + 1;
    end = start + line.length;
    // The method is the last name before the argument.
    const method = hover(start + line.indexOf("(") - 1);
    const variable = hover(asked.indexOf(`result${i} =`));
    return `## ${line}\n${method}\n\nits result:\n${variable}\n`;
  });
  await expect(golden.join("\n")).toMatchFileSnapshot("golden/hovers.txt");
  const take = asked.indexOf("take: 2");
  const { documentation } = service.getQuickInfoAtPosition(mistaken, take) ?? {};
  expect(ts.displayPartsToString(documentation)).toBe(
    "The maximum number of rows. All rows if absent.",
  );
});
