// Draws the times of contenders as points on a logarithmic axis, one line for each case.
const plotWidth = 610;
const lineHeight = 26;
const leastLeft = 230;
const right = 20;
/** About as many pixels as a letter takes on average. */
const letter = 6.2;
const top = 56;
const themes = {
  light: { background: "#ffffff", text: "#1f2328", grid: "#d1d9e0", muted: "#8c959f" },
  dark: { background: "#0d1117", text: "#e6edf3", grid: "#30363d", muted: "#6e7681" },
};
const marks = {
  keywright: "#1f883d",
  limit: undefined,
  peer: "#bc4c00",
};

/**
 * @param lines for each case its title and points: the name of the contender, its kind and the
 * nanoseconds of an operation.
 * @returns an SVG for each theme.
 */
export function plots(title, lines) {
  return Object.fromEntries(
    Object.entries(themes).map(([theme, colors]) => [theme, plot(title, lines, colors)]),
  );
}

function plot(title, lines, colors) {
  const all = lines.flatMap(({ points }) => points.map(({ nanoseconds }) => nanoseconds));
  const [low, high] = [Math.floor(log(Math.min(...all))), Math.ceil(log(Math.max(...all)))];
  const left = Math.max(leastLeft, ...lines.map((line) => line.title.length * letter + 30));
  const width = Math.round(left + plotWidth + right);
  const x = (value) => left + ((log(value) - low) / (high - low)) * plotWidth;
  const height = top + lines.length * lineHeight + 40;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${escapeXml(title)}">`,
    `<rect width="${width}" height="${height}" fill="${colors.background}"/>`,
    `<text x="12" y="22" font-size="14" font-weight="600" fill="${colors.text}">${escapeXml(title)}</text>`,
    legend(colors, left),
  ];
  for (let power = low; power <= high; power++) {
    const at = x(10 ** power).toFixed(1);
    const end = top + lines.length * lineHeight;
    parts.push(
      `<line x1="${at}" x2="${at}" y1="${top - 8}" y2="${end}" stroke="${colors.grid}"/>`,
      `<text x="${at}" y="${end + 18}" text-anchor="middle" fill="${colors.muted}">${label(power)}</text>`,
    );
  }
  for (const [i, { title: name, points }] of lines.entries()) {
    const y = top + i * lineHeight + lineHeight / 2;
    parts.push(
      `<text x="${left - 14}" y="${y + 4}" text-anchor="end" fill="${colors.text}">${escapeXml(name)}</text>`,
    );
    const keywrightLast = [...points].sort(
      (a, b) => (a.kind === "keywright") - (b.kind === "keywright"),
    );
    for (const { contender, kind, nanoseconds } of keywrightLast) {
      const fill = marks[kind] ?? colors.muted;
      const at = x(nanoseconds).toFixed(1);
      const tip = `<title>${escapeXml(`${contender}: ${Math.round(nanoseconds / 10) / 100} µs`)}</title>`;
      parts.push(
        `<circle cx="${at}" cy="${y}" r="${kind === "keywright" ? 6 : 4.5}" fill="${fill}" fill-opacity="0.85">${tip}</circle>`,
      );
    }
  }
  return `${[...parts, "</svg>"].join("\n")}\n`;
}

function legend(colors, left) {
  const names = { keywright: "Keywright", peer: "others", limit: "the store alone" };
  return Object.entries(names)
    .map(([kind, name], i) => {
      const at = left + i * 130;
      const circle = `<circle cx="${at}" cy="38" r="5" fill="${marks[kind] ?? colors.muted}"/>`;
      return `${circle}<text x="${at + 10}" y="42" fill="${colors.text}">${name}</text>`;
    })
    .join("");
}

function log(value) {
  return Math.log10(value);
}

function label(power) {
  if (power >= 9) return `${10 ** (power - 9)} s`;
  if (power >= 6) return `${10 ** (power - 6)} ms`;
  return power >= 3 ? `${10 ** (power - 3)} µs` : `${10 ** power} ns`;
}

function escapeXml(text) {
  return text
    .replaceAll("`", "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;");
}
