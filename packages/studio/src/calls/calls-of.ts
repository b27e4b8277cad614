import type { StudioCalls } from "../protocol/studio-calls.js";

export type CallsOf<Name extends keyof StudioCalls> = {
  readonly [N in Name]: (input: StudioCalls[N]["input"]) => Promise<StudioCalls[N]["output"]>;
};
