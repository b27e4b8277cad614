import type { Alternatives } from "./alternatives.js";
import { pascalCase } from "./identifiers.js";
import { objectProperties, type Property } from "./object-type.js";
import type { Place } from "./place.js";
import { referredType, type Side } from "./reference.js";
import { typeOf } from "./type-of.js";
import type { Definition, Schema, Writer } from "./writer.js";

/** A type that has to have a name, because it contains itself. */
export interface NamedType {
  readonly name: string;
  readonly type: Alternatives;
}

/** A schema of an object. */
export type ObjectSchema = Schema & { readonly _zod: { readonly def: Definition<"object"> } };

/** A schema whose type is being written. */
interface OpenType {
  readonly path: readonly string[];
  /** Given when the schema is met again within itself. */
  name?: string;
}

/** Schemas nest no deeper than this, unless they are made anew at each step without an end. */
const deepest = 64;

/**
 * Spells out the types of schemas. What a schema does not tell at run time, such as the result of a transform, becomes
 * a reference at the nearest place that a type can refer to. What is known at compile time alone does not show: brands,
 * and TypeScript enums whose members have their own names as values.
 */
export class TypeWriter implements Writer {
  readonly side: Side;
  /** The types with names within those written so far. */
  readonly namedTypes: NamedType[] = [];
  /** Whether a type written so far refers to the model's schema. */
  hasReferences = false;
  readonly #baseName: string;
  readonly #takenNames: Set<string>;
  readonly #names = new Map<Schema, string>();
  readonly #open = new Map<Schema, OpenType>();
  #rowName: string | undefined;
  #isRecursive = false;

  /**
   * @param baseName begins the names of recursive types.
   * @param takenNames cannot be those of recursive types; the names that are given out are added.
   */
  constructor(side: Side, baseName: string, takenNames: Set<string>) {
    this.side = side;
    this.#baseName = baseName;
    this.#takenNames = takenNames;
  }

  /**
   * The properties of a row; undefined where they cannot be written.
   *
   * @param name of the type that is made of them, where the schema contains itself.
   */
  rowProperties(schema: ObjectSchema, place: Place, name: string): readonly Property[] | undefined {
    this.#rowName = name;
    this.#names.set(schema, name);
    return objectProperties(this, schema._zod.def, place);
  }

  /** Whether the schema of the row contains itself. */
  get isRecursive(): boolean {
    return this.#isRecursive;
  }

  write(schema: Schema, place: Place): Alternatives | undefined {
    const name = this.#names.get(schema);
    if (name === this.#rowName && name !== undefined) this.#isRecursive = true;
    if (name !== undefined) return [name];
    const outer = this.#open.get(schema);
    if (outer !== undefined) {
      outer.name ??= this.#newName(outer.path);
      return [outer.name];
    }
    if (this.#open.size > deepest) return undefined;
    const open: OpenType = { path: place.path };
    const namedBefore = this.namedTypes.length;
    this.#open.set(schema, open);
    const type = typeOf(this, schema, place);
    this.#open.delete(schema);
    if (type === undefined) {
      // The types within it may name it, and it will have no declaration.
      this.#forget(this.namedTypes.splice(namedBefore));
      return undefined;
    }
    if (open.name === undefined) return type;
    this.#names.set(schema, open.name);
    this.namedTypes.push({ name: open.name, type });
    return [open.name];
  }

  refer({ reference }: Place): Alternatives | undefined {
    if (reference === undefined) return undefined;
    this.hasReferences = true;
    return [referredType(reference, this.side)];
  }

  isName(member: string): boolean {
    const isOpen = [...this.#open.values()].some(({ name }) => name === member);
    return isOpen || [...this.#names.values()].includes(member);
  }

  #newName(path: readonly string[]): string {
    const base = this.#baseName + path.map(pascalCase).join("");
    const suffix = this.side === "input" ? "Input" : "";
    let name = base + suffix;
    for (let number = 2; this.#takenNames.has(name); number++) name = `${base}${number}${suffix}`;
    this.#takenNames.add(name);
    return name;
  }

  #forget(namedTypes: readonly NamedType[]): void {
    const forgotten = new Set(namedTypes.map(({ name }) => name));
    for (const [schema, name] of this.#names) {
      if (forgotten.has(name)) this.#names.delete(schema);
    }
  }
}
