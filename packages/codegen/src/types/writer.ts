import type * as z from "zod";
import type { Alternatives } from "./alternatives.js";
import type { Place, Side } from "./place.js";

export type ZodSchema = z.core.$ZodType;

export type Definition<Kind extends string> = Extract<
  z.core.$ZodTypes["_zod"]["def"],
  { readonly type: Kind }
>;

/** Writes the types of the schemas within another schema. */
export interface Writer {
  readonly side: Side;
  readonly any: "any" | "unknown";
  /** Returns the type of a schema, or undefined if it cannot be spelled out. */
  write(schema: ZodSchema | undefined, place: Place): Alternatives | undefined;
  /** Returns the type of a schema as a reference to it, or undefined if no type can refer to it. */
  refer(place: Place): Alternatives | undefined;
  /** Returns a reference if the type cannot be spelled out, and undefined without one. */
  writeField(schema: ZodSchema, place: Place): Alternatives | undefined;
  /** True if a union member is the name of a type that is declared separately. */
  isName(member: string): boolean;
  /** True if the type of a union member may be undefined or is not known yet. */
  mayBeUndefined(member: string): boolean;
  fault(place: Place, reason: string, cause?: unknown): Error;
}
