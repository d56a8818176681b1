// The data behind a picture, for other programs.

const NUMBER = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i;

/** A cell of RFC 4180. Text that a spreadsheet would take for a formula gets a quote in front, as in assay/core/text/csv.hpp. */
function cell(value) {
  if (value === undefined || value === null) return '';
  let text = String(value);
  if (typeof value === 'string' && /^'*[=+\-@\t\r\n]/.test(text) && !NUMBER.test(text)) text = `'${text}`;
  return /[",\r\n]|^[ \t]|[ \t]$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function placed(axis, value) {
  return axis.kind === 'category' ? axis.categories[Math.round(value)] ?? value : value;
}

/** One line for each mark. */
export function csvOf(picture) {
  const lines = [['series', picture.x.title || 'x', picture.y.title || 'y', 'low', 'high', 'text', 'note'].map(cell)];
  const sideways = picture.y.kind === 'category' && picture.x.kind !== 'category';
  for (const series of picture.series) {
    for (const mark of series.marks) {
      // A bar is its two ends, and lies nowhere else along their axis.
      const x = series.kind === 'bars' && sideways ? null : placed(picture.x, mark.x);
      const y = series.kind === 'rules' || (series.kind === 'bars' && !sideways) ? null : placed(picture.y, mark.y);
      lines.push([series.name ?? '', x, y, mark.low, mark.high, mark.text, mark.note].map(cell));
    }
  }
  return `${lines.map((line) => line.join(',')).join('\r\n')}\r\n`;
}

export function jsonOf(picture) {
  return `${JSON.stringify(picture, null, 1)}\n`;
}
