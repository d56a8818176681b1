import assert from 'node:assert/strict';
import { test } from 'node:test';
import { echarts } from '../src/charts.js';
import { csvOf, jsonOf } from '../src/download.js';
import { wordsOf } from '../src/marks.js';
import { shortNumber, tickDigits } from '../src/numbers.js';
import { heightOf, optionOf } from '../src/option.js';
import { mixed } from '../src/theme.js';
import * as pictures from './pictures.js';

/** The picture as ECharts draws it, without a browser. */
function drawn(picture, width = 600) {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height: heightOf(picture, width).all });
  chart.setOption(optionOf(picture, pictures.theme, width));
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

const count = (svg, pattern) => (svg.match(pattern) ?? []).length;

test('every kind of series is drawn, at the width of a screen and of a telephone', () => {
  for (const [name, picture] of Object.entries(pictures.all)) {
    for (const width of [340, 600]) {
      const svg = drawn(picture, width);
      for (const series of picture.series) {
        const colour = pictures.theme.colours[series.colour];
        const shaded = series.kind === 'cells' ? mixed(colour, '#ffffff', 1) : colour;
        assert.ok(svg.toLowerCase().includes(shaded), `${name}: ${series.kind} at ${width}`);
      }
    }
  }
});

test('a bar is as long as its share', () => {
  // Bars of 40, 30 and 60 on a scale from 0 to 100: lengths are as 40 to 30 to 60.
  const svg = drawn(pictures.phases);
  const lengths = [...svg.matchAll(/d="M([\d.]+) [\d.]+l([\d.]+) 0l0 ([\d.]+)[^"]*"[^>]*fill="(#0072b2|#e69f00)"/g)]
    .filter((found) => Number(found[3]) > 15) // the legend's are lower
    .map((found) => Number(found[2]));
  assert.equal(lengths.length, 3);
  assert.ok(Math.abs(lengths[0] / lengths[1] - 40 / 30) < 0.01, lengths.join(' '));
  assert.ok(Math.abs(lengths[2] / lengths[0] - 60 / 40) < 0.01, lengths.join(' '));
});

test('a band stands behind a line that has intervals, and only there', () => {
  assert.equal(count(drawn(pictures.batch), /fill-opacity="0.2"/g), 1);
  assert.equal(count(drawn(pictures.history), /fill-opacity="0.2"/g), 0);
});

test('cells with too many threads are hatched and the choice is ringed', () => {
  const svg = drawn(pictures.settings);
  assert.ok(count(svg, /stroke-opacity="0.35"/g) > 3);
  assert.equal(count(svg, /stroke="#000001" stroke-width="3"/g), 1);
});

test('a change lies halfway between the two releases', () => {
  const svg = drawn(pictures.history);
  assert.ok(svg.includes('40 % slower'));
  const rule = Number(svg.match(/d="M([\d.]+) [\d.]+L\1 [\d.]+"[^>]*stroke="#d55e00"/)[1]);
  const line = svg.match(/d="M([\d.]+) [\d.]+L([\d.]+) [\d.]+L([\d.]+) [\d.]+"[^>]*stroke="#0072b2"/);
  assert.ok(Math.abs(rule - (Number(line[2]) + Number(line[3])) / 2) < 1.5, `${rule} ${line.slice(1)}`);
});

test('text is never markup', () => {
  const hostile = '<img src=x onerror=alert(1)>';
  const picture = structuredClone(pictures.phases);
  picture.title = hostile;
  picture.y.categories[0] = hostile;
  picture.series[0].name = hostile;
  picture.series[0].marks[0].text = hostile;
  assert.ok(!drawn(picture).includes('<img'));
  const { tooltip } = optionOf(picture, pictures.theme, 600);
  assert.equal(tooltip.renderMode, 'richText');
});

test('numbers are short', () => {
  assert.equal(shortNumber(1234567), '1.23M');
  assert.equal(shortNumber(999.6), '1k');
  assert.equal(shortNumber(0.01234), '0.0123');
  assert.equal(shortNumber(0), '0');
  assert.equal(shortNumber(-1500), '-1.5k');
  // From .898 to .901 in steps of .0005 or less: four digits and no fewer tell them apart.
  assert.ok(tickDigits({ kind: 'linear', low: 0.898, high: 0.901 }) >= 4);
  assert.equal(tickDigits({ kind: 'linear', low: 0, high: 50 }), 3);
});

test('colours mix with the paper', () => {
  assert.equal(mixed('#000000', '#ffffff', 0.5), '#808080');
  assert.equal(mixed('#0072b2', '#ffffff', 1), '#0072b2');
});

test('CSV has a line for each mark, names of categories, and quotes where they must be', () => {
  const lines = csvOf(pictures.batch).split('\r\n');
  assert.equal(lines[0], 'series,batch,samples/s,low,high,text,note');
  assert.equal(lines[1], 'a,1,10,9,12,,');
  assert.equal(lines[5], ',1,12,,,,run 1');
  assert.equal(lines.length, 1 + 5 + 1);
  const odd = structuredClone(pictures.phases);
  odd.series = [{ name: '=cmd|"x",1', kind: 'bars', colour: 0, marks: [{ x: 0, y: 1, low: -1, high: 2 }] }];
  assert.equal(csvOf(odd).split('\r\n')[1], '"\'=cmd|""x"",1",,two,-1,2,,');
  for (const [name, cell] of [["'=x", "''=x"], ['-1.5', '-1.5'], ['-x', "'-x"], [' a', '" a"'], ["'a", "'a"]]) {
    odd.series[0].name = name;
    assert.equal(csvOf(odd).split('\r\n')[1], `${cell},,two,-1,2,,`);
  }
});

test('JSON is the picture itself', () => {
  assert.deepEqual(JSON.parse(jsonOf(pictures.roofline)), pictures.roofline);
});

test('a pointer reads where a mark lies, with its interval', () => {
  const [series] = pictures.batch.series;
  assert.equal(wordsOf(series.marks[1], series, pictures.batch), 'a\nbatch 2\n40 samples/s\n38 to 41');
  const [bars] = pictures.phases.series;
  assert.equal(wordsOf(bars.marks[0], bars, pictures.phases), 'forward\none: 40 %');
});
