/** Where a part of a value was met: the way from the value to it. It is put into words only when an error needs them. */
export interface ValuePath {
  readonly parent: ValuePath | undefined;
  readonly step: PathStep;
}

/** One step down: into a property, an element, the value of a map's key, or a part that has no name of its own. */
export type PathStep =
  | { readonly property: string }
  | { readonly index: number }
  | { readonly mapKey: unknown }
  | { readonly part: string };

/** The path of a value itself. */
export const rootPath: ValuePath = {
  parent: undefined,
  step: { part: "value" },
};

/** A path as JavaScript would write it, as in `value.tags[3]`. */
export function formatValuePath(path: ValuePath): string {
  const steps: string[] = [];
  for (let at: ValuePath | undefined = path; at !== undefined; at = at.parent)
    steps.push(formatStep(at.step));
  return steps.reverse().join("");
}

function formatStep(step: PathStep): string {
  if ("property" in step) return formatProperty(step.property);
  if ("index" in step) return `[${step.index}]`;
  if ("mapKey" in step) return `.get(${formatMapKey(step.mapKey)})`;
  return step.part;
}

function formatProperty(name: string): string {
  if (/^(0|[1-9]\d*)$/.test(name)) return `[${name}]`;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)
    ? `.${name}`
    : `[${JSON.stringify(name)}]`;
}

function formatMapKey(key: unknown): string {
  if (typeof key === "string") return JSON.stringify(key);
  if (typeof key === "bigint") return `${key}n`;
  return typeof key === "object" && key !== null ? "…" : String(key);
}
