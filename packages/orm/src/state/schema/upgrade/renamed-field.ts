import { hashOf } from "../manifests/hash.js";
import type { RowManifest } from "../manifests/manifest.js";
import { otherFields } from "../manifests/row-manifest.js";

/** A field that may have been renamed. It is otherwise unchanged. */
export interface RenamedField {
  readonly from: string;
  readonly to: string;
}

/**
 * Returns the field that was renamed between two schemas, if exactly one field was removed and
 * exactly one with the same schema was added. Otherwise nothing tells which field is which.
 */
export function renamedField(from: RowManifest, to: RowManifest): RenamedField | undefined {
  const [removed, ...otherRemoved] = fieldsWithout(from, to);
  const [added, ...otherAdded] = fieldsWithout(to, from);
  if (removed === undefined || added === undefined) return undefined;
  if (otherRemoved.length > 0 || otherAdded.length > 0) return undefined;
  const isSame = hashOf(from.fields[removed]) === hashOf(to.fields[added]);
  return isSame ? { from: removed, to: added } : undefined;
}

function fieldsWithout({ fields }: RowManifest, other: RowManifest): string[] {
  return Object.keys(fields).filter(
    (field) => field !== otherFields && !Object.hasOwn(other.fields, field),
  );
}

export function renamedFieldText({ from, to }: RenamedField): string {
  const [before, now] = [from, to].map((field) => JSON.stringify(field));
  return `If ${before} is called ${now} now, write a migration that moves its values`;
}
