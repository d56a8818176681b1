// Colours as the style sheet has them, so that they are written once.

export const PALETTE = 8;

/** Reads the colours that hold now, by light or dark. `styles` is what getComputedStyle() gives for the page. */
export function themeOf(styles) {
  const read = (name) => styles.getPropertyValue(name).trim();
  const colours = [];
  for (let i = 0; i < PALETTE; i += 1) colours.push(read(`--c${i}`));
  return { ink: read('--ink'), soft: read('--soft'), paper: read('--paper'), line: read('--line'), colours };
}

/** A colour of the palette, mixed with the paper: 1 is the colour alone. */
export function mixed(colour, paper, share) {
  const parts = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [a, b] = [parts(colour), parts(paper)];
  const hex = a.map((value, i) => Math.round(value * share + b[i] * (1 - share)).toString(16).padStart(2, '0'));
  return `#${hex.join('')}`;
}
