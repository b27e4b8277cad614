import type { Row } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { FieldInfo, ModelInfo } from "../../../src/protocol/studio-info.js";
import { editText } from "../../values/edit-text.js";
import { parseValue } from "../../values/parse-value.js";

/** The content of the form for a field. The text matters only for a value. */
export interface FieldDraft {
  readonly state: "value" | "null" | "absent";
  readonly text: string;
}

export type RowDraft = Readonly<Record<string, FieldDraft>>;

/** Returns the draft that shows a row, or that of a new row. */
export function draftOf(model: ModelInfo, row: Row | null): RowDraft {
  return Object.fromEntries(
    model.fields.map((field) => [field.name, row === null ? empty(field) : shown(field, row)]),
  );
}

/** Returns the drafts of the fields that `values` has. */
export function draftsOf(model: ModelInfo, values: Row): RowDraft {
  const fields = model.fields.filter(({ name }) => name in values);
  return Object.fromEntries(fields.map((field) => [field.name, shown(field, values)]));
}

/** Returns the value that a draft has for a field, or undefined if it has none. */
export function draftValue(model: ModelInfo, draft: RowDraft, name: string): unknown {
  const field = model.fields.find((each) => each.name === name);
  const { state = "absent", text = "" } = draft[name] ?? {};
  if (field === undefined || state !== "value" || text === "") return undefined;
  const parsed = parseValue(field, text);
  return parsed.ok ? parsed.value : undefined;
}

function shown({ name, kind }: FieldInfo, row: Row): FieldDraft {
  const value = row[name];
  if (value === undefined) return { state: "absent", text: "" };
  return { state: value === null ? "null" : "value", text: editText(kind, value) };
}

function empty(field: FieldInfo): FieldDraft {
  if (field.hasDefault || field.isOptional) return { state: "absent", text: "" };
  return { state: field.isNullable ? "null" : "value", text: "" };
}

/** Returns true if the form has something else for the field. */
export function differs(one: FieldDraft | undefined, other: FieldDraft | undefined): boolean {
  return one?.state !== other?.state || (one?.state === "value" && one.text !== other?.text);
}

/** Returns an edited text with the line ends that it had. A text area has only its own. */
function withLineEnds(text: string, before: string): string {
  const ends = before.match(/\r?\n/g) ?? [];
  const isOther = ends.length > 0 && ends.every((end) => end === "\r\n");
  return isOther ? text.replaceAll(/\r?\n/g, "\r\n") : text;
}

export type DraftData = { readonly data: Row } | { readonly issues: StudioError["issues"] };

/**
 * Returns the fields to send: those that differ from `base`, or for a new row those that are not
 * absent. The server removes a field that is undefined.
 */
export function draftData(model: ModelInfo, draft: RowDraft, base: RowDraft | null): DraftData {
  const data: Record<string, unknown> = {};
  const issues: { path: string[]; message: string }[] = [];
  for (const field of model.fields) {
    const { name } = field;
    const now = draft[name];
    if (now === undefined) continue;
    if (base === null ? now.state === "absent" : !differs(now, base[name])) continue;
    if (now.state !== "value") {
      data[name] = now.state === "null" ? null : undefined;
      continue;
    }
    const parsed = parseValue(field, withLineEnds(now.text, base?.[name]?.text ?? ""));
    if (parsed.ok) data[name] = parsed.value;
    else issues.push({ path: [name], message: parsed.message });
  }
  return issues.length > 0 ? { issues } : { data };
}
