/** What to do after a run that ended this way. */
export const outcomeTexts: Readonly<Record<string, string>> = {
  done: "The database matches the models.",
  passed: "No row would fail. Nothing was written, and new indexes were not tried.",
  "would-fail": "Nothing was changed, because rows would fail. Correct the migration or the rows.",
  stopped: "What was done stays. The next run continues.",
  refused: "Nothing was changed. Accept the breaking steps first.",
  blocked: "Nothing was changed. First do what the blocked steps say.",
  duplicates: "Rows share values of a unique index. Change or delete all but one of each.",
  "failed-rows": "Some rows could not be changed. Correct the migration or the rows.",
  "unindexed-rows": "The indexes are readable, but an index cannot contain some rows.",
  "key-unchanged": "The primary key stays as it was. Change or delete the rows that prevent it.",
  busy: "Nothing was changed, because another run is active.",
  lost: "Another run has taken over.",
};
