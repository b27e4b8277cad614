/** The fewest letters that a word of a query must have so that a word with one edit matches it. */
export const minLettersForEdit = 5;

/**
 * True if one word becomes the other by one edit: a letter left out, added or replaced, or two
 * neighbours exchanged. Their first letters must be the same, so that only words with the same
 * first letter need to be compared. Equal words are no edit apart.
 */
export function isOneEdit(a: string, b: string): boolean {
  const x = [...a];
  const y = [...b];
  if (a === b || x[0] !== y[0] || Math.abs(x.length - y.length) > 1) return false;
  let same = 0;
  while (same < x.length && x[same] === y[same]) same++;
  const isRestSame = (fromX: number, fromY: number) =>
    x.slice(fromX).join("") === y.slice(fromY).join("");
  if (x.length > y.length) return isRestSame(same + 1, same);
  if (x.length < y.length) return isRestSame(same, same + 1);
  const isExchanged = x[same] === y[same + 1] && x[same + 1] === y[same];
  return isRestSame(same + 1, same + 1) || (isExchanged && isRestSame(same + 2, same + 2));
}
