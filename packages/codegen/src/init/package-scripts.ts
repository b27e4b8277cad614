/** The scripts that `keywright init` adds, with their possible names by preference. */
const wanted = [
  { names: ["db:generate", "keywright:generate"], script: "keywright generate" },
  { names: ["db:migrate", "keywright:migrate"], script: "keywright migrate run" },
] as const;

/**
 * Returns the scripts that a `package.json` lacks. Existing scripts keep their names and commands,
 * because a project with another library may have its own `db:generate`.
 *
 * @param scripts the existing scripts.
 */
export function missingScripts(scripts: Readonly<Record<string, unknown>>): Record<string, string> {
  const missing: Record<string, string> = {};
  for (const { names, script } of wanted) {
    if (Object.values(scripts).includes(script)) continue;
    const name = names.find((candidate) => !(candidate in scripts));
    if (name !== undefined) missing[name] = script;
  }
  return missing;
}

/**
 * Adds scripts to the text of a `package.json`. The order, indentation and line ends of all other
 * text stay.
 *
 * @param text a JSON object whose `scripts` is absent or an object.
 */
export function addScripts(text: string, scripts: Readonly<Record<string, string>>): string {
  const members = Object.entries(scripts).map(
    ([name, script]) => `${JSON.stringify(name)}: ${JSON.stringify(script)}`,
  );
  if (members.length === 0) return text;
  const layout = layoutOf(text);
  const present = findObject(text, "scripts");
  if (present !== undefined) return insert(text, present, members, 1, layout);
  const root = findObject(text, undefined);
  if (root === undefined) throw new TypeError("It is not a JSON object.");
  const empty = '"scripts": {}';
  const added = insert(empty, findObject(`{${empty}}`, "scripts", -1)!, members, 1, layout);
  return insert(text, root, [added], 0, layout);
}

/** Sets `"type": "module"` in the text of a `package.json`. All other text stays. */
export function setModuleType(text: string): string {
  const member = '"type": "module"';
  const root = findObject(text, undefined);
  if (root === undefined) throw new TypeError("It is not a JSON object.");
  let depth = 0;
  let words: string[] = [];
  for (const { 0: word, index } of text.matchAll(token)) {
    if (depth === 1 && words.at(-1) === ":" && words.at(-2) === '"type"')
      return `${text.slice(0, index)}"module"${text.slice(index + word.length)}`;
    if (word === "{" || word === "[") depth++;
    else if (word === "}" || word === "]") depth--;
    words = [...words.slice(-1), word];
  }
  return insert(text, root, [member], 0, layoutOf(text));
}

interface Layout {
  /** Undefined if the whole text is on one line. */
  readonly lineEnd: string | undefined;
  readonly indent: string;
}

function layoutOf(text: string): Layout {
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  return {
    lineEnd: text.trim().includes("\n") ? lineEnd : undefined,
    indent: /\n([ \t]+)"/.exec(text)?.[1] ?? "  ",
  };
}

interface Span {
  readonly open: number;
  /** The end of the last member, or of the opening brace if there is no member. */
  readonly end: number;
  readonly close: number;
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Finds the outermost object, or the object that is the value of one of its members.
 *
 * @param member the name of that member. Undefined for the outermost object.
 * @param shift a number that is added to the offsets.
 */
function findObject(text: string, member: string | undefined, shift = 0): Span | undefined {
  let [depth, end] = [0, 0];
  let [key, previous] = ["", ""];
  let open: number | undefined;
  const wantedDepth = member === undefined ? 0 : 1;
  for (const match of text.matchAll(token)) {
    const [word] = match;
    if (word === "{" || word === "[") {
      const isWanted = depth === wantedDepth && (member === undefined || key === member);
      if (word === "{" && isWanted) open ??= match.index;
      depth++;
    } else if (word === "}" || word === "]") {
      depth--;
      if (open !== undefined && depth === wantedDepth) {
        return { open: open + shift, end: end + shift, close: match.index + shift };
      }
    } else if (word === ":" && depth === 1) {
      key = JSON.parse(previous) as string;
    }
    previous = word;
    end = match.index + word.length;
  }
  return undefined;
}

function insert(
  text: string,
  { open, end, close }: Span,
  members: readonly string[],
  depth: number,
  { lineEnd, indent }: Layout,
): string {
  const isEmpty = end === open + 1;
  const isOneLine = lineEnd === undefined || !(isEmpty || text.slice(open, close).includes("\n"));
  const [before, after] = [text.slice(0, end), text.slice(end)];
  if (isOneLine) {
    const joined = members.join(", ");
    return isEmpty ? `${before} ${joined} ${text.slice(close)}` : `${before}, ${joined}${after}`;
  }
  const line = (level: number) => `${lineEnd}${indent.repeat(level)}`;
  const lines = members.map((member) => `${line(depth + 1)}${member}`).join(",");
  return isEmpty
    ? `${before}${lines}${line(depth)}${text.slice(close)}`
    : `${before},${lines}${after}`;
}
