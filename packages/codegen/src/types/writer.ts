import type * as z from "zod";
import type { Alternatives } from "./alternatives.js";
import type { Place } from "./place.js";
import type { Side } from "./reference.js";

/** A schema of any kind. */
export type Schema = z.core.$ZodType;

/** What stands behind a schema of one kind. */
export type Definition<Kind extends string> = Extract<
  z.core.$ZodTypes["_zod"]["def"],
  { readonly type: Kind }
>;

/** Writes the types of the schemas that are part of another one. */
export interface Writer {
  readonly side: Side;
  /** What is written for `any`. */
  readonly any: "any" | "unknown";
  /** The type of a schema; undefined where it cannot be spelled out. */
  write(schema: Schema | undefined, place: Place): Alternatives | undefined;
  /** The type of a schema as a reference to it; undefined where no type leads to it. */
  refer(place: Place): Alternatives | undefined;
  /** The type of a field: a reference where it cannot be spelled out, undefined where there is none either. */
  writeField(schema: Schema, place: Place): Alternatives | undefined;
  /** Whether a member of a union is the name of a type that is declared beside it. */
  isName(member: string): boolean;
  /** Whether what a member of a union stands for can be undefined, or is not known yet. */
  mayBeUndefined(member: string): boolean;
  /** The error of a schema of which no type can be made. */
  fault(place: Place, reason: string, cause?: unknown): Error;
}
