// The queries of each case, which are chosen from the documents by a fixed rule.

const perCase = 20;

/** Returns by the name of a case its queries: words that must all occur, a phrase, or a prefix. */
export function queriesOf(documents) {
  const texts = documents.map(({ title, body }) => `${title} ${body}`.toLowerCase());
  const words = texts.map((text) => text.match(/[a-z]+/g) ?? []);
  const counts = new Map();
  for (const ofText of words)
    for (const word of new Set(ofText)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const byCount = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const long = byCount.filter(([word]) => word.length >= 4).map(([word]) => word);
  const known = new Set(long.slice(0, 3000));
  const sample = every(words, perCase * 20);
  const common = long.slice(0, perCase);
  return {
    "a common word": common.map((word) => ({ words: [word] })),
    "a rare word": every(long.slice(3000, 10_000), perCase).map((word) => ({ words: [word] })),
    "three words": sample
      .map((text) => [...new Set(text.filter((word) => known.has(word)))].slice(0, 3))
      .filter(({ length }) => length === 3)
      .slice(0, perCase)
      .map((three) => ({ words: three })),
    "a phrase": sample
      .flatMap((text) => {
        const at = text.findIndex((word, i) => known.has(word) && known.has(text[i + 1]));
        return at < 0 ? [] : [{ phrase: text.slice(at, at + 2) }];
      })
      .slice(0, perCase),
    "a prefix": common.map((word) => ({ prefix: word.slice(0, 3) })),
    "a word with a typo": long
      .slice(200, 2000)
      .filter((word) => word.length >= 7)
      .slice(0, perCase)
      .map((word) => ({ typo: `${word.slice(0, 3)}${word[4]}${word[3]}${word.slice(5)}` })),
  };
}

/** Returns 100 queries of one, two and three words whose results are compared. */
export function comparedQueries(documents) {
  const cases = queriesOf(documents);
  const single = [...cases["a common word"], ...cases["a rare word"]].map(({ words }) => words);
  const three = cases["three words"].map(({ words }) => words);
  const two = [...three.map((words) => words.slice(0, 2)), ...three.map((words) => words.slice(1))];
  return [...single, ...two, ...three].map((words) => ({ words }));
}

function every(values, count) {
  const step = Math.max(1, Math.floor(values.length / count));
  return values.filter((_, i) => i % step === 0).slice(0, count);
}
