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
export { combineU64 } from "./combine-u64.js";
export { hasExpired, isRangeEnd, maxRangeBytes } from "./engine.js";
export { type CheckedFile, type EntryCheck, EntryChecker } from "./entry-checker.js";
export { ExpiryClock } from "./expiry-clock.js";
export { assertInPlace, type FileId, fileIdOf } from "./file-id.js";
export {
  checksumOf,
  decodeRecord,
  hasValidChecksum,
  RecordEntry,
  recordOf,
  writeChecksum,
} from "./level/record.js";
export { type EndableView, OpenViews, type ViewReads } from "./open-views.js";
export { isCreationAllowed } from "./process-settings.js";
export { RecentCommits } from "./recent-commits.js";
export { firstEntryKey, firstSystemKey, visibleRange } from "./system-keys.js";
export { visitRangesAtOnce } from "./visit-ranges.js";
export { CheckedVersions, type RecordMutation, WriteGroup } from "./write-group.js";
