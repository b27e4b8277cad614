import { useCallback, useState } from "preact/hooks";
import type { ModelSize } from "../../../src/protocol/keys.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { errorDetails } from "../../api/call-error.js";

export interface Sizes {
  /** By the properties of the models, as far as they are measured. */
  readonly sizes: ReadonlyMap<string, ModelSize>;
  readonly error: StudioError | null;
  readonly isMeasuring: boolean;
  readonly measure: () => void;
}

/** Measures the models one after another when the view asks for it. */
export function useSizes(models: readonly ModelInfo[]): Sizes {
  const [sizes, setSizes] = useState<ReadonlyMap<string, ModelSize>>(new Map());
  const [error, setError] = useState<StudioError | null>(null);
  const [isMeasuring, setMeasuring] = useState(false);
  const measure = useCallback(() => {
    const measureAll = async () => {
      for (const { property } of models) {
        const size = await call("measure", { property });
        setSizes((last) => new Map(last).set(property, size));
      }
    };
    setError(null);
    setMeasuring(true);
    measureAll()
      .catch((failure: unknown) => setError(errorDetails(failure)))
      .finally(() => setMeasuring(false));
  }, [models]);
  return { sizes, error, isMeasuring, measure };
}
