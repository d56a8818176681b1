// One function for each kind of series: the same marks that assay/report/pictures/svg.cpp draws.
import { shortNumber } from './numbers.js';
import { mixed } from './theme.js';

const SHAPES = ['circle', 'rect', 'triangle', 'diamond'];
const DRAWN_BY = { line: lineOf, dots: dotsOf, bars: barsOf, cells: cellsOf, rules: rulesOf };

/** Where a mark lies, in words, for a pointer. */
export function wordsOf(mark, series, picture) {
  const at = (axis, value) => (axis.kind === 'category' ? axis.categories[Math.round(value)] : shortNumber(value));
  const lines = [];
  if (series.name) lines.push(series.name);
  const sideways = picture.y.kind === 'category' && picture.x.kind !== 'category';
  if (series.kind === 'bars') {
    const where = sideways ? at(picture.y, mark.y) : at(picture.x, mark.x);
    const unit = (sideways ? picture.x : picture.y).title;
    lines.push(`${where}: ${shortNumber(mark.high - mark.low)} ${unit}`);
  } else if (series.kind === 'rules') {
    lines.push(mark.text ?? '');
  } else {
    lines.push(`${picture.x.title} ${at(picture.x, mark.x)}`, `${at(picture.y, mark.y)} ${picture.y.title}`);
    if (hasInterval(mark)) lines.push(`${shortNumber(mark.low)} to ${shortNumber(mark.high)}`);
  }
  if (series.kind === 'cells' && mark.text) lines.push(mark.text);
  if (mark.note) lines.push(mark.note);
  return lines.map((line) => (line.length > 160 ? `${line.slice(0, 160)}…` : line)).join('\n');
}

export function marksOf(series, picture, theme) {
  const colour = theme.colours[series.colour % theme.colours.length];
  return DRAWN_BY[series.kind](series, picture, theme, colour);
}

function tooltipOf(series, picture) {
  const words = (mark) => (mark ? wordsOf(mark, series, picture) : '');
  return { formatter: (info) => words(series.marks[info.dataIndex]) };
}

function hasInterval(mark) {
  return mark.low !== undefined && mark.high !== undefined;
}

function lineOf(series, picture, theme, colour) {
  const line = {
    type: 'line', name: series.name ?? '', data: series.marks.map((mark) => [mark.x, mark.y]),
    lineStyle: { color: colour, width: 2, type: series.dashed ? [6, 4] : 'solid' }, itemStyle: { color: colour },
    symbol: SHAPES[series.colour % 4], symbolSize: 6, showSymbol: series.marks.length <= 60, z: 3,
    tooltip: tooltipOf(series, picture),
  };
  const banded = series.marks.filter(hasInterval);
  if (banded.length < 2) return [line];
  const upper = banded.map((mark) => [mark.x, mark.high]);
  const corners = [...upper, ...banded.map((mark) => [mark.x, mark.low]).reverse()];
  const band = {
    type: 'custom', name: series.name ?? '', data: [corners.flat()], silent: true, z: 1, itemStyle: { color: colour },
    encode: { x: [], y: [] },
    renderItem: (params, api) => ({
      type: 'polygon', shape: { points: corners.map((corner) => api.coord(corner)) },
      style: { fill: colour, opacity: 0.2 },
    }),
  };
  return [band, line];
}

function whisker(mark, api, colour) {
  const [x, top] = api.coord([mark.x, mark.high]);
  const [, bottom] = api.coord([mark.x, mark.low]);
  return { type: 'line', shape: { x1: x, y1: top, x2: x, y2: bottom }, style: { stroke: colour, lineWidth: 1.5 } };
}

function dotsOf(series, picture, theme, colour) {
  const dots = {
    type: 'scatter', name: series.name ?? '', data: series.marks.map((mark) => [mark.x, mark.y]),
    symbol: SHAPES[series.colour % 4], symbolSize: series.marks.length > 100 ? 4 : 7, z: 4,
    itemStyle: { color: colour, opacity: 0.75 }, tooltip: tooltipOf(series, picture),
  };
  if (series.marks.some((mark) => mark.text)) {
    dots.label = { show: true, position: 'right', color: theme.ink, fontSize: 11, width: 160, overflow: 'truncate',
      formatter: (info) => series.marks[info.dataIndex].text ?? '' };
    dots.labelLayout = { hideOverlap: true, moveOverlap: 'shiftY' };
  }
  const sure = series.marks.filter(hasInterval);
  if (sure.length === 0) return [dots];
  return [dots, {
    type: 'custom', name: series.name ?? '', data: sure.map((mark) => [mark.x, mark.y]), silent: true, z: 2,
    itemStyle: { color: colour }, renderItem: (params, api) => whisker(sure[params.dataIndex], api, colour),
  }];
}

function barShape(mark, api, sideways) {
  if (sideways) {
    const [left, y] = api.coord([mark.low, mark.y]);
    const [right] = api.coord([mark.high, mark.y]);
    const height = Math.min(22, 0.75 * Math.abs(api.size([0, 1])[1]));
    return { x: left, y: y - height / 2, width: right - left, height };
  }
  const [x, top] = api.coord([mark.x, Math.max(mark.low, mark.high)]);
  const [, bottom] = api.coord([mark.x, Math.min(mark.low, mark.high)]);
  const width = 0.66 * api.size([1, 0])[0];
  return { x: x - width / 2, y: top, width, height: bottom - top };
}

function barsOf(series, picture, theme, colour) {
  const sideways = picture.y.kind === 'category';
  return [{
    type: 'custom', name: series.name ?? '', itemStyle: { color: colour }, z: 3,
    data: series.marks.map((mark) => (sideways ? [mark.low, mark.y] : [mark.x, mark.high])),
    tooltip: tooltipOf(series, picture),
    renderItem: (params, api) => {
      const mark = series.marks[params.dataIndex];
      const shape = barShape(mark, api, sideways);
      const text = mark.text ?? '';
      const fits = !sideways || shape.width > text.length * 8;
      return {
        type: 'rect', shape, style: { fill: colour },
        textContent: { style: { text: fits ? text : '', fontSize: 12, fill: sideways ? theme.paper : theme.ink } },
        textConfig: { position: sideways ? 'inside' : 'top', distance: 4 },
      };
    },
  }];
}

/** Lines from corner to corner over a cell: more threads than CPUs. */
function hatching(shape, theme) {
  const lines = [];
  for (let at = 8; at < shape.width + shape.height; at += 8) {
    const [x1, y1] = [shape.x + Math.min(at, shape.width), shape.y + Math.max(0, at - shape.width)];
    const [x2, y2] = [shape.x + Math.max(0, at - shape.height), shape.y + Math.min(at, shape.height)];
    const style = { stroke: theme.ink, opacity: 0.35, lineWidth: 1 };
    lines.push({ type: 'line', shape: { x1, y1, x2, y2 }, style, silent: true });
  }
  return lines;
}

function cellsOf(series, picture, theme, colour) {
  return [{
    type: 'custom', name: series.name ?? '', data: series.marks.map((mark) => [mark.x, mark.y]), z: 3,
    itemStyle: { color: colour }, tooltip: tooltipOf(series, picture),
    renderItem: (params, api) => {
      const mark = series.marks[params.dataIndex];
      const [x, y] = api.coord([mark.x, mark.y]);
      const [width, height] = api.size([1, 1]).map((length) => Math.abs(length) - 2);
      const shape = { x: x - width / 2, y: y - height / 2, width, height };
      const shade = mark.shade ?? 0;
      const children = [{
        type: 'rect', shape, style: { fill: mixed(colour, theme.paper, 0.06 + 0.94 * shade) },
        textContent: { style: { text: mark.text ?? '', fontSize: 12, fill: shade > 0.55 ? theme.paper : theme.ink } },
        textConfig: { position: 'inside' },
      }];
      if (mark.hatched) children.push(...hatching(shape, theme));
      const ring = { fill: 'none', stroke: theme.ink, lineWidth: 3 };
      if (mark.ringed) children.push({ type: 'rect', shape, style: ring, silent: true });
      return { type: 'group', children };
    },
  }];
}

function rulesOf(series, picture, theme, colour) {
  return [{
    type: 'custom', name: series.name ?? '', data: series.marks.map((mark) => [mark.x, picture.y.low]), z: 2,
    itemStyle: { color: colour }, tooltip: tooltipOf(series, picture),
    renderItem: (params, api) => {
      const mark = series.marks[params.dataIndex];
      const { y, height } = params.coordSys;
      // Between two categories: halfway, which no category stands for.
      const [x] = api.coord([Math.floor(mark.x), picture.y.low]);
      const at = x + (mark.x - Math.floor(mark.x)) * (api.size([1, 0])[0] ?? 0);
      return {
        type: 'group',
        children: [
          { type: 'line', shape: { x1: at, y1: y, x2: at, y2: y + height },
            style: { stroke: colour, lineWidth: 2, lineDash: [6, 4] } },
          { type: 'text', x: at + 4, y: y + 2, style: { text: mark.text ?? '', fill: theme.ink, fontSize: 11 } },
        ],
      };
    },
  }];
}
