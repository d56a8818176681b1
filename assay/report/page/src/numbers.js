const UNITS = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

/** 1234567 -> "1.23M": three digits that mean something, as the plain drawings write them. */
export function shortNumber(value, digits = 3) {
  const size = Math.abs(value);
  if (size < 1e-12) return '0';
  const [least, unit] = UNITS.find(([limit]) => size >= 0.9995 * limit) ?? [1, ''];
  return `${Number((value / least).toPrecision(digits))}${unit}`;
}

/** Digits that tell ticks of a linear axis apart, of which there are about ten at most. */
export function tickDigits({ kind, low, high }) {
  if (kind !== 'linear') return 3;
  const largest = Math.max(Math.abs(low), Math.abs(high));
  return Math.min(9, Math.max(3, Math.ceil(Math.log10(largest / ((high - low) / 10))) + 1));
}
