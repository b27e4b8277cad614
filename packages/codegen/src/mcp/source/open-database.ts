import type { AnyDatabase } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";

/** A model with the name that the program has for it. */
export interface OpenModel {
  readonly property: string;
  readonly model: CompiledModel;
}

/** A database that is open for one call of a tool. */
export interface OpenDatabase {
  readonly database: AnyDatabase;
  readonly models: readonly OpenModel[];
}
