export { type AdoptedFrom, type AdoptOptions, adopt } from "./change/adopt/adopt.js";
export type {
  AdoptedModel,
  AdoptFailure,
  AdoptProgress,
  AdoptResult,
  BrokenEntry,
  BrokenEntryKind,
  LeftBehind,
} from "./change/adopt/adopt-result.js";
export { guideLayout } from "./change/adopt/source/guide-layout.js";
export type { KvdexEncoder } from "./change/adopt/source/kvdex-encoder.js";
export { type KvdexOptions, kvdexLayout } from "./change/adopt/source/kvdex-layout.js";
export { type PentagonOptions, pentagonLayout } from "./change/adopt/source/pentagon-layout.js";
export type {
  ExpectedEntry,
  LeftEntries,
  SourceDocument,
  SourceEntry,
  SourceKv,
  SourceLayout,
  SourceReader,
} from "./change/adopt/source/source-layout.js";
