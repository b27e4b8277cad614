// What an engine is made of, for packages that implement the port.
export { textOfBytes } from "../bytes/text-of-bytes.js";
export { appendVersionstampPart } from "../keys/encode-key.js";
export { decodeForeignValue } from "../values/decode-foreign-value.js";
export {
  formatVersionstamp,
  maxGroupSize,
  sequenceOfVersionstamp,
} from "../values/versionstamp.js";
export { ChangeWatchers } from "./change-watchers.js";
export { combineU64 } from "./commit/combine-u64.js";
export { RecentCommits } from "./commit/recent-commits.js";
export { CheckedVersions, type RecordMutation, WriteGroup } from "./commit/write-group.js";
export { hasExpired, isRangeEnd, maxRangeBytes } from "./engine.js";
export { ExpiryClock } from "./expiry-clock.js";
export { type CheckedFile, type EntryCheck, EntryChecker } from "./files/entry-checker.js";
export { assertInPlace, type FileId, fileIdOf } from "./files/file-id.js";
export {
  checksumOf,
  decodeRecord,
  hasValidChecksum,
  RecordEntry,
  recordOf,
  writeChecksum,
} from "./level/record.js";
export { isCreationAllowed } from "./process-settings.js";
export { type EndableView, OpenViews, type ViewReads } from "./read/open-views.js";
export { visitRangesAtOnce } from "./read/visit-ranges.js";
export { firstEntryKey, firstSystemKey, visibleRange } from "./system-keys.js";
