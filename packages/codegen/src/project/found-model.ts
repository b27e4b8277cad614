import type { CompiledModel, Model } from "@keywright/orm";

/** A model and where it was found. */
export interface FoundModel {
  readonly model: CompiledModel;
  /** What `defineModel` returned. */
  readonly definition: Model;
  /** Absolute. */
  readonly modulePath: string;
  /** `"default"` for the default export. */
  readonly exportName: string;
}

/** Where a model was found, for people: `City in src/models/city.ts`. */
export function describeOrigin({ modulePath, exportName }: FoundModel): string {
  return `${exportName} in ${modulePath}`;
}
