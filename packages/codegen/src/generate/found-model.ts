import type { CompiledModel } from "@keywright/orm";

/** A model and where it was found. */
export interface FoundModel {
  readonly model: CompiledModel;
  /** Absolute. */
  readonly modulePath: string;
  /** `"default"` for the default export. */
  readonly exportName: string;
}

/** Where a model was found, for people: `City in src/models/city.ts`. */
export function describeOrigin({ modulePath, exportName }: FoundModel): string {
  return `${exportName} in ${modulePath}`;
}
