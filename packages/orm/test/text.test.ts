import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { snippet } from "../src/index.js";
import { analyze, analyzePrefix, analyzeValue } from "../src/text/analyze.js";
import type { Analyzer } from "../src/text/analyzer.js";
import { isOneEdit } from "../src/text/edits.js";
import { fold } from "../src/text/fold.js";
import { languages, loadStemmer, stemmerOf } from "../src/text/languages.js";
import { occurrencesIn } from "../src/text/occurrences.js";
import { parseQuery } from "../src/text/parse-query.js";
import { inverseFrequency, scorerOfTerm } from "../src/text/score.js";

beforeAll(async () => {
  for (const language of languages) await loadStemmer(language);
});

const plain: Analyzer = { version: "1", language: undefined, foldsMarks: true, stopWords: [] };
const english: Analyzer = { ...plain, language: "english" };
const wordsOf = (text: string, analyzer = plain) => analyze(text, analyzer).map(({ word }) => word);

// All of Unicode, and more of what matters to texts and queries.
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          ...'quick fox the -lazy OR ca* title: " “ ” „ * - : ( ) ß İ ﬁ 東京 ไทย ½ ﷺ \ud800'.split(
            " ",
          ),
        ),
        fc.string({ unit: "grapheme", maxLength: 3 }),
      ),
    )
    .map((parts) => parts.join(" ")),
);

describe("the words of a text", () => {
  it("are folded, with their places", () => {
    expect(analyze("The Foxes' café", english)).toEqual([
      { word: "the", position: 0, start: 0, end: 3 },
      { word: "fox", position: 1, start: 4, end: 9 },
      { word: "cafe", position: 2, start: 11, end: 15 },
    ]);
    expect(wordsOf("STRASSE STRAẞE Straße ΟΔΟΣ οδος ﬁne ١٢٣")).toEqual([
      "strasse",
      "strasse",
      "strasse",
      "οδοσ",
      "οδοσ",
      "fine",
      "١٢٣",
    ]);
    expect(wordsOf("node.js don't foo_bar 3.14")).toEqual([
      "node",
      "js",
      "don",
      "t",
      "foo",
      "bar",
      "3",
      "14",
    ]);
  });

  it("are found in scripts without spaces", () => {
    expect(wordsOf("東京都に住んでいます")).toEqual([
      "東京",
      "都",
      "に",
      "住",
      "んで",
      "い",
      "ます",
    ]);
    expect(wordsOf("ภาษาไทยง่ายมาก")).toEqual(["ภาษา", "ไทย", "ง่าย", "มาก"]);
    expect(wordsOf("我爱自然语言处理")).toEqual(["我", "爱", "自然", "语言", "处理"]);
  });

  it("are those of the whole text if many follow one another without a space", () => {
    const sentence = "東京都に住んでいます";
    const words = wordsOf(sentence);
    const times = 20_000;
    const found = wordsOf(sentence.repeat(times));
    expect(found.length).toBe(times * words.length);
    expect(found.slice(-words.length)).toEqual(words);
    const pairs = analyze(`a${"𠮷".repeat(5000)}`, plain);
    expect(pairs.every(({ word }) => word.isWellFormed())).toBe(true);
    expect(pairs.at(-1)!.end).toBe(10_001);
  });

  it("begin after the mark of an emoji, which is no word", () => {
    expect(wordsOf("I ❤️you ☀️ a\u0301")).toEqual(["i", "you", "a"]);
    expect(shown("❤️")).toBe("; noWord ❤️");
  });

  it("have the letters of Turkish", () => {
    const turkish: Analyzer = { ...plain, language: "turkish" };
    const exact = { ...turkish, foldsMarks: false };
    expect(wordsOf("IŞIK Işık ışık", exact)).toEqual(["ışık", "ışık", "ışık"]);
    expect(wordsOf("İZ iz I\u0307z", exact)).toEqual(["iz", "iz", "iz"]);
    expect(new Set(wordsOf("IŞIK ışık", turkish)).size).toBe(1);
    expect(analyzePrefix("ISP", exact)).toBe("ısp");
    for (const analyzer of [plain, turkish])
      expect(new Set(wordsOf("ISPARTA Isparta ısparta isparta", analyzer)).size).toBe(1);
  });

  it("can have any length", () => {
    for (const [language, letters] of [
      ["dutch", "y"],
      ["german", "y"],
      ["ukrainian", "ивший"],
    ] as const) {
      const long = letters.repeat(200_000);
      expect(wordsOf(long, { ...plain, language })).toEqual(wordsOf(long.slice(0, 64)));
    }
  });

  it("keep the marks of scripts in which they are sounds, and accents if asked to", () => {
    expect(wordsOf("हिन्दी ガ")).toEqual(["हिन्दी", "ガ"]);
    expect(wordsOf("Übermäßig é", { ...plain, foldsMarks: false })).toEqual(["übermässig", "é"]);
    expect(wordsOf("Übermäßig")).toEqual(["ubermassig"]);
  });

  it("leave gaps for stop words, and are far apart in two elements of an array", () => {
    const analyzer = { ...plain, stopWords: ["of", "the"] };
    const found = analyzeValue(["end of the line", "next"], analyzer);
    expect(found.map(({ word, position }) => [word, position])).toEqual([
      ["end", 0],
      ["line", 3],
      ["next", 103],
    ]);
    expect(analyzeValue(undefined, plain)).toEqual([]);
    expect(analyzeValue(5, plain)).toEqual([]);
  });

  it("are those of Intl.Segmenter, cut at what is no letter, mark or digit", () => {
    const segmenter = new Intl.Segmenter("en", { granularity: "word" });
    // Superscripts and the like are no digits for the segmenter. It takes a mark at the beginning
    // for a word.
    const letters = fc.constantFrom(..."aZéßжΩאहिकी0٣ .,'_-:·\n\t/@()".split(""));
    const text = fc.array(letters, { maxLength: 30 }).map((all) => all.join(""));
    const reference = (input: string) =>
      [...segmenter.segment(input)]
        .filter(({ isWordLike }) => isWordLike)
        .flatMap(({ segment }) => segment.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []);
    fc.assert(
      fc.property(text, (input) => {
        fc.pre(!/(^|[^\p{L}\p{M}\p{N}])\p{M}/u.test(input));
        const found = analyze(input, plain).map(({ start, end }) => input.slice(start, end));
        expect(found).toEqual(reference(input));
      }),
      { numRuns: 2000 },
    );
  });

  it("are the same however the text is written, and lie in it", () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(plain, english), (text, analyzer) => {
        const tokens = analyze(text, analyzer);
        expect(tokens).toEqual(analyze(text, analyzer));
        let end = 0;
        for (const token of tokens) {
          expect(token.start).toBeGreaterThanOrEqual(end);
          end = token.end;
          expect(end).toBeLessThanOrEqual(text.length);
          expect(token.word).not.toBe("");
          expect(token.word.length).toBeLessThanOrEqual(64);
          expect(token.word.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  it("fold to themselves", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (word) => {
        expect(fold(fold(word))).toBe(fold(word));
        expect(fold(word.toLowerCase())).toBe(fold(fold(word).toLowerCase()));
      }),
    );
  });

  it("have the stems that indexes contain", async () => {
    const samples = {
      arabic: "الكتاب والمدرسة يكتبون",
      armenian: "գրքերի տներում",
      bulgarian: "книгите градовете",
      danish: "bøgerne husene undersøgelser",
      dutch: "lichamelijkheden huizen opgeglimlacht",
      english: "running relational happiness flies generously adoption",
      finnish: "kirjoissa taloissaan",
      french: "continuellement maisons mangeaient",
      german: "aufeinanderfolgenden Häuser gegangen",
      greek: "βιβλία σπίτια",
      hindi: "किताबें लड़कियों",
      hungarian: "könyvekben házak",
      indonesian: "membacakan perjalanan",
      irish: "leabhair bhfuinneoga",
      italian: "abbandonata case mangiavano",
      lithuanian: "knygose namai",
      nepali: "किताबहरू घरमा",
      norwegian: "bøkene husene undersøkelser",
      portuguese: "boataria casas comiam",
      romanian: "cărțile copiilor",
      russian: "книгами бегающий",
      serbian: "књиге кућама",
      spanish: "cheques casas comieron",
      swedish: "böckerna husen undersökningar",
      tamil: "புத்தகங்கள் வீடுகளில்",
      turkish: "kitaplarda evlerimiz",
      ukrainian: "книгами будинків",
    };
    expect(Object.keys(samples)).toEqual(languages);
    const stems = Object.entries(samples).map(([language, text]) => {
      const words = wordsOf(text, { ...plain, language: language as never });
      return `${language}: ${text} → ${words.join(" ")}\n`;
    });
    await expect(stems.join("")).toMatchFileSnapshot("golden/stems.txt");
  });

  it("have a stem in each language, whatever they are", () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(...languages), (text, language) => {
        for (const { word } of analyze(text, { ...plain, language })) expect(word).not.toBe("");
      }),
      { numRuns: 2000 },
    );
  });

  it("need the stemmer of the language", () => {
    expect(loadStemmer("english")).toBeUndefined();
    expect(loadStemmer(undefined)).toBeUndefined();
    expect(stemmerOf("english")("flies")).toBe("fli");
  });
});

const definition = {
  fields: [
    { field: "title", weight: 4 },
    { field: "body", weight: 1 },
  ],
  analyzer: { ...english, stopWords: ["of", "the"] },
};

/** Shows a query as text: groups by `&`, alternatives by `|`. */
function shown(text: string, typos = false): string {
  const { all, none, ignored } = parseQuery(text, definition, { typos });
  const termText = (term: (typeof none)[number]) =>
    [
      term.fields === undefined ? "" : `${definition.fields[term.fields[0]!]!.field}:`,
      term.words
        .map((word, i) => `${word}@${term.offsets[i]}`)
        .join("+")
        .replace(/^([^+]*)@0$/, "$1"),
      term.isPrefix ? "*" : "",
      term.allowsEdit ? "~" : "",
    ].join("");
  return [
    all.map((group) => group.map(termText).join(" | ")).join(" & "),
    ...none.map((term) => `not ${termText(term)}`),
    ...ignored.map(({ reason, text: part }) => `${reason} ${part}`),
  ].join("; ");
}

describe("a query", () => {
  it.each([
    ["quick foxes", "quick & fox"],
    ['"brown fox" -lazy ca*', "brown@0+fox@1 & ca*; not lazi"],
    ["title:running body:ca*", "title:run & body:ca*"],
    ['title:"quick fox"', "title:quick@0+fox@1"],
    ["cats OR dogs mice", "cat | dog & mice"],
    ["a OR b OR c", "a | b | c"],
    ['"end of the line"', "end@0+line@3; stopWord of; stopWord the"],
    ['"quick bro"*', "quick@0+bro@1*"],
    ['"quick bro*"', "quick@0+bro@1*"],
    ["the fox", "fox; stopWord the"],
    ["the*", "the*"],
    ["fox OR the", "fox; operator OR; stopWord the"],
    ["a the OR b", "a & b; stopWord the; operator OR"],
    ["a OR the OR b", "a | b; operator OR; stopWord the"],
    ["OR a", "a; operator OR"],
    ["a OR", "a; operator OR"],
    ["a OR -b c", "a & c; not b; operator OR"],
    ["-a", "; not a; onlyExclusions -a"],
    ['say "hello', 'sai & hello; quote "'],
    ['-"hello', '; not hello; onlyExclusions -"hello; quote "'],
    ["titel:fox", "titel@0+fox@1; unknownField titel:"],
    ["https://example.com", "http@0+exampl@1+com@2; unknownField https:"],
    ["10:30", "10@0+30@1"],
    ["... fox", "fox; noWord ..."],
    ["- fox", "fox; noWord -"],
    ["well-known", "well@0+known@1"],
    ["東京都", "東京@0+都@1"],
    ["title:", "titl"],
    ["", ""],
  ])("%s", (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it("allows an edit in words of five letters or more, if asked to", () => {
    const text = 'quick fox foxes "brown" 12345 serch* -lazily title:search';
    expect(shown(text, true)).toBe(
      "quick~ & fox & fox~ & brown & 12345 & serch* & title:search~; not lazili",
    );
    expect(shown("quick")).toBe("quick");
  });

  it("never throws, explains what it ignores, and has no word that an index cannot have", () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, typos) => {
        const { all, none, ignored } = parseQuery(text, definition, { typos });
        for (const { start, end, text: part } of ignored) expect(text.slice(start, end)).toBe(part);
        for (const term of [...all.flat(), ...none]) {
          expect(term.words.length).toBeGreaterThan(0);
          expect(term.offsets[0]).toBe(0);
          for (const word of term.words) expect(word.isWellFormed()).toBe(true);
        }
        if (/[a-z]{4}/u.test(text))
          expect(all.length + none.length + ignored.length).toBeGreaterThan(0);
      }),
      { numRuns: 5000 },
    );
  });

  it("has a limit", () => {
    const many = parseQuery("word ".repeat(3000), definition);
    expect(many.all).toHaveLength(64);
    expect(many.ignored.every(({ reason }) => reason === "tooLong")).toBe(true);
    expect(many.ignored.at(-1)).toMatchObject({ start: 10_000, end: 15_000 });
    const start = process.cpuUsage().user;
    for (const piece of ['"', "-", "a:", "*", "OR ", '"a ', "東"])
      parseQuery(piece.repeat(1e6), definition);
    expect(process.cpuUsage().user - start).toBeLessThan(5e6);
  });
});

describe("a term", () => {
  const found = (query: string, text: string, typos = false) => {
    const [[term]] = parseQuery(query, definition, { typos }).all as [[never]];
    return occurrencesIn(term, analyze(text, definition.analyzer)).map(({ tokens, weight }) =>
      [weight, ...tokens.map(({ start, end }) => text.slice(start, end))].join(" "),
    );
  };

  it("is found where its words are", () => {
    expect(found("foxes", "A fox, two Foxes")).toEqual(["1 fox", "1 Foxes"]);
    expect(found('"end of the line"', "end of a line, end in one line")).toEqual([
      "1 end line",
      "1 end line",
    ]);
    expect(found('"a b"', "a b a c a b")).toEqual(["1 a b", "1 a b"]);
    expect(found("ca*", "cat car dog")).toEqual(["1 cat", "1 car"]);
    expect(found("serach", "search seraph reach", true)).toEqual(["0.5 search", "0.5 seraph"]);
  });

  it.each([
    ["search", "serch", true],
    ["search", "seaarch", true],
    ["search", "saerch", true],
    ["search", "seorch", true],
    ["search", "search", false],
    ["search", "earch", false],
    ["search", "scearh", false],
    ["ab", "ba", false],
  ])("%s and %s are one edit apart: %s", (a, b, expected) => {
    expect(isOneEdit(a, b)).toBe(expected);
    expect(isOneEdit(b, a)).toBe(expected);
  });

  it("has a prefix as indexes have words", () => {
    expect(analyzePrefix("CAFÉ", plain)).toBe("cafe");
  });
});

describe("a score", () => {
  it("is that of BM25", () => {
    expect(inverseFrequency(10, 3)).toBeCloseTo(Math.log(1 + 7.5 / 3.5), 12);
    const score = scorerOfTerm({ documents: 10, words: 50 }, 3);
    const expected = (Math.log(1 + 7.5 / 3.5) * 2 * 2.2) / (2 + 1.2 * (0.25 + (0.75 * 8) / 5));
    expect(score(2, 8)).toBeCloseTo(expected, 12);
  });

  it("is positive, grows with occurrences and falls with the length", () => {
    const size = fc.integer({ min: 1, max: 1e6 });
    fc.assert(
      fc.property(size, size, size, size, (documents, words, matching, occurrences) => {
        const score = scorerOfTerm({ documents, words }, matching);
        expect(score(occurrences, 10)).toBeGreaterThan(0);
        expect(score(occurrences + 1, 10)).toBeGreaterThan(score(occurrences, 10));
        expect(score(occurrences, 11)).toBeLessThan(score(occurrences, 10));
      }),
    );
  });
});

describe("a snippet", () => {
  it("shows the part with the most words, and marks them", () => {
    const text = `${"one two three. ".repeat(30)}The quick <fox> jumps. ${"four five. ".repeat(30)}`;
    const start = text.indexOf("quick");
    const ranges = [
      { start: 4, end: 7 },
      { start, end: start + 5 },
      { start: start + 7, end: start + 10 },
    ];
    const shownText = snippet(text, ranges, { length: 40 });
    expect(shownText).toBe(
      "… two three. The <mark>quick</mark> &lt;<mark>fox</mark>&gt; jumps. four …",
    );
    expect(
      snippet("a <b>", [{ start: 3, end: 4 }], { before: "[", after: "]", escape: false }),
    ).toBe("a <[b]>");
    expect(snippet("short")).toBe("short");
  });

  it("is safe in HTML and whole, whatever the text is", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, length) => {
        const ranges = analyze(text, plain);
        const html = snippet(text, ranges, { length });
        expect(html.replaceAll("<mark>", "").replaceAll("</mark>", "")).not.toMatch(/[<>]/);
        expect(html.isWellFormed()).toBe(text.isWellFormed() || html.isWellFormed());
      }),
    );
  });
});
