import { textOf } from "../types/alternatives.js";
import type { InterfaceType } from "../types/object-type.js";

/** A type of which all values can stand in keys, as it is written, or one whose values are in no index. */
const keyType =
  /string|number|bigint|boolean|true|false|Date|Uint8Array<ArrayBuffer>|"(?:[^"\\]|\\.)*"|-?\d[\d.]*(?:e[+-]?\d+)?n?|null|undefined/;
const keyTypes = new RegExp(
  `^(?:readonly )?\\(((?:${keyType.source})(?: \\| (?:${keyType.source}))*)\\)\\[\\]$`,
);

const keyTypeText = new RegExp(`^(?:${keyType.source})(?: \\| (?:${keyType.source}))*$`);

/** Longer types are named by their row's field, in characters. */
const longest = 40;

/** Whether a type can be repeated as it is written: one whose values can stand in keys, and not a long one. */
export function isKeyTypeText(type: string): boolean {
  return type.length <= longest && keyTypeText.test(type);
}

/**
 * The type of the elements of an array field, as text: neither null nor undefined, for such elements are in no index.
 *
 * @param rowName by which a type is named that is long or not spelled out.
 */
export function elementType(row: InterfaceType, field: string, rowName: string): string {
  const { type = [] } = row.properties.find(({ name }) => name === field) ?? {};
  const [array, ...others] = type.filter((member) => member !== "null" && member !== "undefined");
  const [, elements] = others.length === 0 ? (keyTypes.exec(array ?? "") ?? []) : [];
  const all = elements?.match(new RegExp(keyType.source, "g")) ?? [];
  const present = textOf(all.filter((member) => member !== "null" && member !== "undefined"));
  if (all.length > 0 && present.length <= longest) return present;
  return `NonNullable<NonNullable<${rowName}[${JSON.stringify(field)}]>[number]>`;
}
