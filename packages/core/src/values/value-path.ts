/** The path from a value to one of its parts. It is formatted only if an error needs it. */
export interface ValuePath {
  readonly parent: ValuePath | undefined;
  readonly step: PathStep;
}

/** A step to a property, an element, the value of a map's key, or a part without a name. */
export type PathStep =
  | { readonly property: string }
  | { readonly index: number }
  | { readonly mapKey: unknown }
  | { readonly part: string };

export const rootPath: ValuePath = { parent: undefined, step: { part: "value" } };

/** Formats a path as JavaScript code, such as `value.tags[3]`. */
export function formatValuePath(
  path: ValuePath,
  mapKeyText: (key: unknown) => string = formatMapKey,
): string {
  const steps: string[] = [];
  for (let at: ValuePath | undefined = path; at !== undefined; at = at.parent)
    steps.push(formatStep(at.step, mapKeyText));
  return steps.reverse().join("");
}

function formatStep(step: PathStep, mapKeyText: (key: unknown) => string): string {
  if ("property" in step) return formatProperty(step.property);
  if ("index" in step) return `[${step.index}]`;
  if ("mapKey" in step) return `.get(${mapKeyText(step.mapKey)})`;
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
