export { type AdoptedFrom, type AdoptOptions, adopt } from "./adopt/adopt.js";
export type {
  AdoptedModel,
  AdoptFailure,
  AdoptProgress,
  AdoptResult,
  BrokenEntry,
  BrokenEntryKind,
  LeftBehind,
} from "./adopt/adopt-result.js";
export { guideLayout } from "./adopt/source/guide-layout.js";
export type { KvdexEncoder } from "./adopt/source/kvdex-encoder.js";
export { type KvdexOptions, kvdexLayout } from "./adopt/source/kvdex-layout.js";
export { type PentagonOptions, pentagonLayout } from "./adopt/source/pentagon-layout.js";
export type {
  ExpectedEntry,
  LeftEntries,
  SourceDocument,
  SourceEntry,
  SourceKv,
  SourceLayout,
  SourceReader,
} from "./adopt/source/source-layout.js";
