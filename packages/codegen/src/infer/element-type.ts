import { isRepeatable, textOf } from "../types/alternatives.js";
import type { InterfaceType } from "../types/object-type.js";

/** Matches types of key parts, and null and undefined, which no index contains. */
const keyType =
  /string|number|bigint|boolean|true|false|Date|Uint8Array<ArrayBuffer>|"(?:[^"\\]|\\.)*"|-?\d[\d.]*(?:e[+-]?\d+)?n?|null|undefined/;
const keyArray = new RegExp(
  `^(?:readonly )?\\(((?:${keyType.source})(?: \\| (?:${keyType.source}))*)\\)\\[\\]$`,
);

const keyTypeText = new RegExp(`^(?:${keyType.source})(?: \\| (?:${keyType.source}))*$`);

/** True if a type can be repeated as text: all its values can be key parts, and it is short. */
export function isKeyTypeText(type: string): boolean {
  return isRepeatable(type) && keyTypeText.test(type);
}

/** Returns the type of the elements of an array field, without null and undefined. */
export function elementType(row: InterfaceType, field: string, rowName: string): string {
  const { type = [] } = row.properties.find(({ name }) => name === field) ?? {};
  const [array, ...others] = type.filter((member) => member !== "null" && member !== "undefined");
  const [, elements] = others.length === 0 ? (keyArray.exec(array ?? "") ?? []) : [];
  const all = elements?.match(new RegExp(keyType.source, "g")) ?? [];
  const present = textOf(all.filter((member) => member !== "null" && member !== "undefined"));
  if (all.length > 0 && isRepeatable(present)) return present;
  return `NonNullable<NonNullable<${rowName}[${JSON.stringify(field)}]>[number]>`;
}
