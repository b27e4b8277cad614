import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ModelInfo, StudioInfo } from "../../src/protocol/studio-info.js";

const nothing: StudioInfo = {
  ...{ title: "", isReadOnly: true, isLive: false, hasLog: false, models: [], damage: null },
};

/** The description of the database. It is read again after the view of migrations. */
export const StudioContext = createContext<StudioInfo>(nothing);

/** Returns what the server said about the database. */
export function useStudio(): StudioInfo {
  return useContext(StudioContext);
}

/** Returns the model that has this name in the database, as errors and migrations use it. */
export function modelNamed(info: StudioInfo, name: string): ModelInfo | undefined {
  return info.models.find((model) => model.name === name);
}
