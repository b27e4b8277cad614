export const about = {
  title: "Input that is not valid",
  promise:
    "Bytes that are not valid are refused with an error that has a code. What is accepted can be stored and read again. No input causes another error, takes long, or takes much memory.",
  method:
    "Valid bytes are changed at random: flipped, overwritten, cut, inserted, joined with others and repeated. Some get a valid checksum again, so that the check of it does not refuse all of them. They are decoded as keys, values, records, commit records, headers, messages, tables, logs and manifests of LevelDB, cursors of lists and of queries, internal entries of models, keys as text, exports and lock files.",
  short: "20,000 inputs",
  command: "npm run soak:hostile-input -- --inputs 5000000",
  goals: [{ unit: "inputs", asked: 5_000_000, ran: ({ inputs }) => inputs }],
};
